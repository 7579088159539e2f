internal import CameoModel
internal import CameoRenderService

if CommandLine.arguments.dropFirst() == ["--version"] {
    print(CameoVersion.current)
} else {
    RenderService.main()
}
