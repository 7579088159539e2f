package import CameoModel
package import CameoStore
internal import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore
internal import ServiceLifecycle

/// Serves a store over HTTP/1.1 until it is told to shut down.
package struct WebServer: Service {
    /// The most open connections; further ones wait to be accepted.
    private static let maximumConnections = 4_096
    /// The longest pause between two requests on a connection, and between two pieces of a request.
    private static let idleTimeout = TimeAmount.seconds(60)

    private let address: ListenAddress
    private let responder: WebResponder
    private let logger: Logger
    private let onReady: @Sendable (_ address: String) -> Void

    /// Creates a server that calls `onReady` with the dashboard's URL once it accepts connections.
    package init(
        store: any Store,
        address: ListenAddress,
        configuration: WebConfiguration,
        logger: Logger,
        onReady: @escaping @Sendable (_ url: String) -> Void
    ) {
        self.address = address
        self.logger = logger
        self.onReady = onReady
        responder = WebResponder(Site(store: store, configuration: configuration, logger: logger))
    }

    /// - Throws: ``CannotListen``
    package func run() async throws {
        let application = Application(
            responder: responder,
            server: .http1(configuration: .init(idleTimeout: Self.idleTimeout)),
            configuration: ApplicationConfiguration(
                address: address.bindAddress,
                backlog: 512,
                availableConnectionsDelegate: MaximumAvailableConnections(Self.maximumConnections)
            ),
            onServerRunning: { channel in onReady(url(of: channel)) },
            logger: quietLogger
        )
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { [feed = responder.site.feed] in await feed.run() }
                group.addTask { [history = responder.site.history] in await history.run() }
                if let socket = InheritedSocket() {
                    try await socket.serve(responder, idleTimeout: Self.idleTimeout, logger: quietLogger) { channel in
                        onReady(url(ofInherited: channel))
                    }
                } else {
                    try await application.run()
                }
            }
        } catch let error as IOError {
            throw CannotListen(address: address, reason: "\(Errno(error.errnoCode))")
        }
    }

    /// An error in listening on the address, which is in use, for example, or not one of this machine's.
    package struct CannotListen: Error, CustomStringConvertible {
        let address: ListenAddress
        let reason: String

        package var description: String { "cannot listen on \(address): \(reason)" }
    }

    /// The framework's logger; its lines below `error` add nothing to ours.
    private var quietLogger: Logger {
        var logger = logger
        logger.logLevel = .error
        return logger
    }

    private func url(ofInherited channel: any Channel) -> String {
        let path = responder.site.configuration.basePath + "/"
        guard let local = channel.localAddress else { return path }
        if let file = local.pathname { return "unix:\(file)" }
        return "http://\(ListenAddress.tcp(host: local.ipAddress ?? "", port: local.port ?? 0))\(path)"
    }

    private func url(of channel: any Channel) -> String {
        let path = responder.site.configuration.basePath + "/"
        guard case .tcp(let host, let port) = address else { return "\(address)" }
        return "http://\(ListenAddress.tcp(host: host, port: channel.localAddress?.port ?? port))\(path)"
    }
}
