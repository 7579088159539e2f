internal import CameoRenderService

RenderService.main()
