internal import CameoModel
internal import CameoRenderMessages
internal import Glibc

if CommandLine.arguments.dropFirst() == ["--version"] {
    print(CameoVersion.current)
    exit(0)
}
guard let arguments = RendererArguments(CommandLine.arguments.dropFirst()) else {
    Refusal.end("cameo-renderer is started by cameo-worker")
}
let sandbox = Startup.run(arguments)
let channel = WorkerChannel(socket: RendererProtocol.socketDescriptor)
RenderService(channel: channel, allowedFormats: arguments.allowedFormats).run(sandbox)
