internal import CameoVideo

FrameService.main()
