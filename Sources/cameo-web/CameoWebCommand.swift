internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import CameoWeb
internal import CommandLogging
internal import CommandSupport
internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// The command: options, a store, a server, and their end.
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
            --base-path from CAMEO_WEB_BASE_PATH, and so on. \(Duration.explanation) \(ByteCount.explanation)

            EXAMPLES
              cameo-web --store /srv/pictures
              cameo-web --listen unix:/run/cameo/web.sock --base-path /cameo --tokens /etc/cameo/tokens
              cameo-web --listen 127.0.0.1:8080 --sign-key /etc/cameo/url-key
              cameo-web --store postgres://pictures@db.example/pictures --redirect-blobs

            EXIT CODES
              0 done, 1 cannot listen on the address, 2 bad usage, 4 the store cannot be opened or written
            """,
        version: CameoVersion.current
    )

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup(title: "Server Options") var server: ServerOptions
    @OptionGroup(title: "Access Options") var access: AccessOptions
    @OptionGroup(title: "Log Options") var log: LogOptions

    static func main() async {
        await CommandMain.run(Self.self, environmentPrefix: "CAMEO_WEB_")
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        // Each connection is one.
        ProcessPriority.allowOpenFiles(65_536)
        let logger = log.logger(Live(log.level(quiet: false)), label: "cameo-web")
        var configuration = WebConfiguration()
        configuration.basePath = server.basePath
        configuration.thumbnailAge = server.maxAge
        configuration.thumbnailStaleness = server.staleWhileRevalidate
        configuration.maximumUpload = server.maxUpload.bytes
        configuration.memoryCapacity = server.memoryCapacity.bytes
        configuration.maximumLag = server.maxLag
        try access.apply(to: &configuration)
        let store = try storeOptions.open()
        store.onCommitWait { logger.warning("\($0)") }
        configuration.redirects = try server.redirects(of: store)
        let service = WebServer(
            store: store,
            address: server.listen,
            configuration: configuration,
            logger: logger,
            onReady: { url in
                Output.line(url)
                logger.info("serving", metadata: ["store": "\(store.location)", "url": "\(url)"])
            }
        )
        let reload = TokenReload(options: access, tokens: configuration.liveTokens, logger: logger)
        try await group([reload, service], logger).run()
        await store.finish()
        store.close()
        logger.info("ended")
    }

    private func group(_ services: [any Service], _ logger: Logger) -> ServiceGroup {
        // The group's own log lines add nothing to ours.
        var quiet = logger
        quiet.logLevel = .critical
        var configuration = ServiceGroupConfiguration(
            services: services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: quiet
        )
        configuration.maximumGracefulShutdownDuration = server.grace
        return ServiceGroup(configuration: configuration)
    }
}

/// Rereads the tokens at SIGHUP. A file that cannot be read leaves the tokens as they are.
private struct TokenReload: Service {
    let options: AccessOptions
    let tokens: Live<AccessTokens>
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do {
                tokens.value = try options.readTokens()
                logger.notice("tokens reread")
            } catch {
                logger.error("tokens not reread", metadata: ["reason": "\(error)"])
            }
        }
    }
}
