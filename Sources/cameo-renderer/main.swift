internal import CameoRenderService

/// The child process that reads and writes pictures.
RenderService.main()
