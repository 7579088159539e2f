internal import CameoModel
internal import CameoStore
internal import CameoWeb
internal import CommandLogging
internal import CommandSupport
internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// Builds a server from its options and runs it until it ends.
struct WebApp {
    let command: CameoWebCommand

    init(_ command: CameoWebCommand) {
        self.command = command
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        // Each connection is one.
        ProcessPriority.allowOpenFiles(65_536)
        let logger = command.log.logger(LiveLevel(command.log.level(quiet: false)), label: "cameo-web")
        var configuration = try configuration
        let store = try command.storeOptions.open()
        configuration.redirects = try command.server.redirects(of: store)
        let server = WebServer(
            store: store,
            address: command.server.listen,
            configuration: configuration,
            logger: logger,
            onReady: { url in
                Output.line(url)
                logger.info("serving", metadata: ["store": "\(store.location)", "url": "\(url)"])
            }
        )
        do {
            let reload = TokenReload(options: command.access, tokens: configuration.liveTokens, logger: logger)
            try await group([reload, server], logger).run()
        } catch let error as WebServer.CannotListen {
            throw CommandFailure("\(error)", .failed)
        }
        await store.finish()
        store.close()
        logger.info("ended")
    }

    private var configuration: WebConfiguration {
        get throws {
            var configuration = WebConfiguration()
            configuration.basePath = command.server.basePath
            configuration.thumbnailAge = command.server.maxAge.duration
            configuration.maximumUpload = command.server.maxUpload.bytes
            configuration.memoryCapacity = command.server.memoryCapacity.bytes
            configuration.maximumLag = command.server.maxLag?.duration
            try command.access.apply(to: &configuration)
            return configuration
        }
    }

    private func group(_ services: [any Service], _ logger: Logger) -> ServiceGroup {
        // The group's own log lines add nothing to ours.
        var quiet = logger
        quiet.logLevel = .critical
        var configuration = ServiceGroupConfiguration(
            services: services.map {
                .init(
                    service: $0,
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .cancelGroup
                )
            },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: quiet
        )
        configuration.maximumGracefulShutdownDuration = command.server.grace.duration
        return ServiceGroup(configuration: configuration)
    }
}

/// Rereads the tokens at SIGHUP. A file that cannot be read leaves the tokens as they are.
private struct TokenReload: Service {
    let options: AccessOptions
    let tokens: LiveTokens
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do {
                tokens.replace(by: try options.readTokens())
                logger.notice("tokens reread")
            } catch {
                logger.error("tokens not reread", metadata: ["reason": "\(error)"])
            }
        }
    }
}
