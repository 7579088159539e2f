package import CameoStore
internal import CameoSystem
internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle

/// Serves a store over HTTP/1.1 until it is told to shut down.
package struct WebServer: Service {
    /// The most open connections; further ones wait to be accepted. Each may hold a second descriptor: of a file, a body that
    /// waits on the disk, or a connection to a storage. The reserve is for event loops, the store, and connections that are
    /// accepted in one go with the last. Without a descriptor, Dispatch ends the process.
    private static var maximumConnections: Int {
        let reserve = 128 + 4 * System.coreCount
        return min(4_096, max(8, (sysconf(CInt(_SC_OPEN_MAX)) - reserve) / 2))
    }
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
        (self.address, self.logger, self.onReady) = (address, logger, onReady)
        responder = WebResponder(site: Site(store: store, configuration: configuration, logger: logger))
    }

    /// - Throws: ``CannotListen``
    package func run() async throws {
        let inherited = InheritedSocket.all()
        let lock = inherited.isEmpty ? try await lockSocket() : nil
        let rules = HTTP1Rules.configuration(idleTimeout: Self.idleTimeout, responder.site)
        let connections = Self.maximumConnections
        let application = Application(
            responder: responder,
            server: .http1(configuration: rules),
            configuration: ApplicationConfiguration(
                address: address.bindAddress,
                backlog: 512,
                availableConnectionsDelegate: MaximumAvailableConnections(connections)
            ),
            onServerRunning: { channel in
                if let lock { flock(lock.descriptor, LOCK_UN) }
                onReady(url(of: channel, at: address))
            },
            logger: quietLogger
        )
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { [feed = responder.site.feed] in await feed.run() }
                group.addTask { [history = responder.site.history] in await history.run() }
                if inherited.isEmpty { try await application.run() }
                let share = max(1, connections / max(1, inherited.count))
                try await withThrowingDiscardingTaskGroup { group in
                    for socket in inherited {
                        group.addTask {
                            do {
                                try await socket.serve(responder, rules, atMost: share, logger: quietLogger) {
                                    onReady(url(ofInherited: $0))
                                }
                            } catch let error as IOError {
                                let place = "descriptor \(socket.descriptor), which systemd has passed"
                                throw CannotListen(place: place, reason: "\(Errno(error.errnoCode))")
                            }
                        }
                    }
                }
            }
        } catch let error as IOError {
            throw CannotListen(place: "\(address)", reason: "\(Errno(error.errnoCode))")
        } catch is UnixDomainSocketPathWrongType {
            throw CannotListen(place: "\(address)", reason: "there is a file that is not a socket")
        }
    }

    /// Makes sure that nobody listens on the socket: the framework would remove it.
    ///
    /// - Returns: the socket's folder. It is locked, so that of two servers that start at once, the second finds the first
    ///   one's socket. Nil for other addresses, and if the folder cannot be locked.
    /// - Throws: ``CannotListen``
    private func lockSocket() async throws -> OpenFile? {
        guard case .unix(let path) = address else { return nil }
        let folder = try await NIOThreadPool.singleton.runIfActive { () -> OpenFile? in
            let folder = URL(filePath: path).deletingLastPathComponent().path
            let file = OpenFile(adopting: open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
            return flock(file.descriptor, LOCK_EX) == 0 ? file : nil
        }
        do {
            let client = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            try await client.connect(unixDomainSocketPath: path).get().close()
        } catch let error as IOError where [ECONNREFUSED, ENOENT].contains(error.errnoCode) {
            return folder
        }
        throw CannotListen(place: "\(address)", reason: "another server listens on it")
    }

    /// An error in listening on the address, which is in use, for example, or not one of this machine's.
    package struct CannotListen: Error, CustomStringConvertible {
        let place: String
        let reason: String

        package var description: String { "cannot listen on \(place): \(reason)" }
    }

    /// The framework's logger; its lines below `error` add nothing to ours.
    private var quietLogger: Logger {
        var logger = logger
        logger.logLevel = .error
        return logger
    }

    private func url(ofInherited channel: any Channel) -> String {
        guard let local = channel.localAddress else { return responder.site.configuration.basePath + "/" }
        let path = local.pathname.map { ListenAddress.unix(path: $0) }
        return url(of: channel, at: path ?? .tcp(host: local.ipAddress ?? "", port: 0))
    }

    private func url(of channel: any Channel, at address: ListenAddress) -> String {
        guard case .tcp(let host, let port) = address else { return "\(address)" }
        let bound = ListenAddress.tcp(host: host, port: channel.localAddress?.port ?? port)
        return "http://\(bound)\(responder.site.configuration.basePath)/"
    }
}
