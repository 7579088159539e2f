import CameoModel
import CameoSQLite
import CameoStore
import CameoWeb
import Foundation
import Logging
import StoreConformance
import TestSupport
import Testing

/// A server of one test's own on loopback, and the store behind it, in which the test plays the worker.
final class WebBench: StoreBench {
    let folder: TemporaryFolder
    let store: any Store
    let port: UInt16
    private let server: Task<Void, any Error>

    /// `tokens` are names with scopes; each token is its name and ``secret``.
    init(
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        tokens: KeyValuePairs<String, String> = [:],
        _ configure: (inout WebConfiguration) throws -> Void = { _ in }
    ) async throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(at: folder.path("store"))
        var configuration = WebConfiguration()
        configuration.presets = try PresetFile.builtIn()
        configuration.tokens = try AccessTokens(
            parsing: tokens.map { "\($0.key) \($0.value) \($0.key)\(Self.secret)\n" }.joined()
        )
        try configure(&configuration)
        let (ready, continuation) = AsyncStream<String>.makeStream()
        let server = WebServer(
            store: store,
            address: .tcp(host: "127.0.0.1", port: 0),
            configuration: configuration,
            logger: logger,
            onReady: { url in
                continuation.yield(url)
                continuation.finish()
            }
        )
        self.server = Task {
            defer { continuation.finish() }
            try await server.run()
        }
        var addresses = ready.makeAsyncIterator()
        let url = try #require(await addresses.next())
        port = try #require(URL(string: url)?.port.flatMap { UInt16(exactly: $0) })
    }

    deinit { server.cancel() }

    private static let secret = "-0123456789abcdef"

    /// The header of who has the token of this name.
    static func bearer(_ name: String) -> [String: String] { ["Authorization": "Bearer \(name)\(secret)"] }

    /// Ends the server, and returns when it listens no more. Nobody may connect meanwhile: a server that is cancelled while it
    /// accepts a connection ends the process, in swift-nio.
    func stop() async {
        server.cancel()
        _ = await server.result
    }

    /// One request on a connection of its own.
    func send(
        _ method: String,
        _ target: String,
        _ headers: [String: String] = [:],
        body: Data? = nil
    ) async throws -> RawAnswer {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost", "Connection: close"]
        if let body { lines.append("Content-Length: \(body.count)") }
        lines += headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return try await exchange(Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? Data()))
    }

    func get(_ target: String, _ headers: [String: String] = [:]) async throws -> RawAnswer {
        try await send("GET", target, headers)
    }

    /// Repeats a request that waits while its answer is that nothing has happened yet: on a busy machine, the work may take
    /// longer than the longest wait.
    func wait(
        _ target: String,
        _ headers: [String: String] = [:],
        while waits: @Sendable (RawAnswer) throws -> Bool = { $0.status == 202 }
    ) async throws -> RawAnswer {
        while true {
            try Task.checkCancellation()
            let answer = try await get(target, headers)
            if try !waits(answer) { return answer }
        }
    }

    /// Sends these bytes and reads to the connection's end.
    func exchange(_ bytes: Data) async throws -> RawAnswer {
        let port = port
        let received = try await Self.blocking { try RawConnection(port: port).exchange(bytes) }
        return try RawAnswer(received)
    }

    /// A stream of events, with its first one taken: it is connected.
    func events(_ query: String = "", _ headers: [String: String] = [:]) async throws -> EventReader {
        let reader = try EventReader(port: port, target: "/events\(query)", headers: headers)
        let first = try #require(await reader.next())
        #expect(first.name == "cursor" && first.number.map { #"{"cursor":\#($0)}"# } == first.data)
        return reader
    }

    /// On a thread of its own: sockets block, and the threads of tasks and of dispatch queues are the server's too.
    static func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }

    /// A picture's bytes with a job for it that has not run.
    func enqueue(_ renditions: Rendition..., priority: Int = 0) async throws -> EnqueueReceipt {
        let request = ThumbnailRequest(source: "https://example.com/\(UUID().uuidString).png", renditions: renditions)
        return try await store.enqueue([request])[0]
    }

    /// A thumbnail that has been made, with its id.
    func makeThumbnail(_ bytes: Data) async throws -> ThumbnailID {
        let receipt = try await enqueue(Rendition(width: 64))
        try await work(try await register(), with: bytes)
        guard case .thumbnail(let id) = receipt.thumbnails[0].uri else { throw CancellationError() }
        return id
    }
}

extension EnqueueReceipt {
    /// Where its first thumbnail is served.
    var path: String { "/\(thumbnails[0].uri.text.dropFirst("cameo://".count))" }
}
