internal import CameoHTTPCache
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization

// DESIGN. systemd opens the socket and starts the server at the first connection (sd_listen_fds(3)), so that a port
// below 1024 needs no root and a restart refuses nobody. The framework listens only on addresses of its own, hence this
// small accept loop around its handler of a connection.

/// A listening socket that systemd has passed on.
struct InheritedSocket: Sendable {
    /// The first descriptor that systemd passes (SD_LISTEN_FDS_START).
    private static let first: CInt = 3
    let descriptor: CInt

    /// The sockets that systemd has passed to this very process.
    static func all(environment: [String: String] = ProcessInfo.processInfo.environment) -> [InheritedSocket] {
        guard environment["LISTEN_PID"] == "\(getpid())" else { return [] }
        let count = environment["LISTEN_FDS"].flatMap { UInt16($0) } ?? 0
        return (first..<first + CInt(count)).map { InheritedSocket(descriptor: $0) }
    }

    /// Serves connections until shutdown, then finishes the responses that have begun.
    func serve(
        _ responder: WebResponder,
        _ rules: HTTP1Channel.Configuration,
        atMost maximumConnections: Int,
        logger: Logger,
        onReady: @escaping @Sendable (any Channel) -> Void
    ) async throws {
        let handler = HTTP1Channel(
            responder: { request, writer, channel in
                let context = WebContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
                var response = try await responder.respond(to: request, context: context)
                response.headers[.date] = HTTPDate.text(of: Date())
                try await writer.write(response: response.head, body: response.body)
            },
            configuration: rules
        )
        let connections = Connections()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let limit = AvailableConnectionsChannelHandler(maxConnections: maximumConnections)
                    try channel.pipeline.syncOperations.addHandler(limit)
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(descriptor) { channel in
                connections.add(channel)
                return handler.setup(channel: channel, logger: logger)
            }
        onReady(server.channel)
        try await withGracefulShutdownHandler {
            try await server.executeThenClose { inbound in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await connection in inbound {
                        group.addTask { await handler.handle(value: connection, logger: logger) }
                    }
                }
            }
        } onGracefulShutdown: {
            server.channel.close(promise: nil)
            connections.quiesce()
        }
    }

    private final class Connections: Sendable {
        private let open = Mutex<[ObjectIdentifier: any Channel]>([:])

        func add(_ channel: any Channel) {
            let id = ObjectIdentifier(channel)
            open.withLock { $0[id] = channel }
            channel.closeFuture.whenComplete { [self] _ in open.withLock { $0[id] = nil } }
        }

        /// Closes each connection as soon as it has no request in progress.
        func quiesce() {
            for channel in open.withLock({ Array($0.values) }) {
                channel.eventLoop.execute {
                    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
                }
            }
        }
    }
}
