internal import CameoVideo

/// The child process that reads videos.
FrameService.main()
