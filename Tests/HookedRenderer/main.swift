internal import CameoRenderService
internal import Misbehaviour

// cameo-renderer, but that some sources make it misbehave.
RenderService.main(hook: TestHook.obey)
