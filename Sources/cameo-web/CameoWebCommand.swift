internal import ArgumentParser
internal import CameoModel
internal import CameoWeb
internal import CommandLogging
internal import CommandSupport

@main
struct CameoWebCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cameo-web",
        abstract: "Serves a store over HTTP: thumbnails, jobs, status, metrics and a page to look at.",
        discussion: """
            Prints the URL of its page and runs until SIGTERM or SIGINT (Ctrl-C); then it finishes the answers that it \
            has begun. It makes no thumbnails: a cameo-worker on the same store does. Plain HTTP, by default for this \
            machine alone: put a proxy before it for others. Without --tokens everybody who reaches it may read, and \
            nobody may write. Every option can come from the environment instead: --base-path from CAMEO_WEB_BASE_PATH, \
            and so on. \(DurationArgument.explanation) \(ByteCount.explanation)

            EXAMPLES
              cameo-web --store /srv/pictures
              cameo-web --listen unix:/run/cameo/web.sock --base-path /cameo --tokens /etc/cameo/tokens
              cameo-web --listen 127.0.0.1:8080 --sign-key /etc/cameo/url-key

            EXIT CODES
              0 done, 1 the address cannot be listened on, 2 bad usage, 4 the store cannot be opened or written
            """,
        version: CameoVersion.current
    )

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup(title: "Server Options") var server: ServerOptions
    @OptionGroup(title: "Access Options") var access: AccessOptions
    @OptionGroup(title: "Log Options") var log: LogOptions

    func run() async throws {
        try await WebApp(self).run()
    }

    static func main() async {
        await CommandMain.run(Self.self, environmentPrefix: "CAMEO_WEB_")
    }
}
