internal import ArgumentParser
internal import CameoModel
internal import CameoWeb
internal import CommandLogging
internal import CommandSupport

@main
struct CameoWebCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cameo-web",
        abstract: "Serve a store over HTTP: thumbnails, jobs, status, metrics and a dashboard.",
        discussion: """
            Prints the URL of its dashboard and runs until SIGTERM or SIGINT (Ctrl-C), then finishes the responses in \
            progress. SIGHUP rereads the tokens. It makes no thumbnails: a cameo-worker on the same store does. It speaks plain HTTP and listens \
            on loopback by default; to serve other machines, put a TLS proxy in front of it. Without --tokens, anyone \
            who can reach it may read, and nobody may write. Every option can come from the environment: \
            --base-path from CAMEO_WEB_BASE_PATH, and so on. \(DurationArgument.explanation) \(ByteCount.explanation)

            EXAMPLES
              cameo-web --store /srv/pictures
              cameo-web --listen unix:/run/cameo/web.sock --base-path /cameo --tokens /etc/cameo/tokens
              cameo-web --listen 127.0.0.1:8080 --sign-key /etc/cameo/url-key
              cameo-web --store postgres://cameo@db.example/pictures --redirect-blobs

            EXIT CODES
              0 done, 1 cannot listen on the address, 2 bad usage, 4 the store cannot be opened or written
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
