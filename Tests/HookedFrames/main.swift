internal import CameoVideo
internal import Misbehaviour

// cameo-frames, but that some sources make it misbehave.
FrameService.main(hook: TestHook.obey)
