import CameoHTTPCache
import CameoModel
import CameoSQLite
import CameoStore
import CameoWeb
import Foundation
import Logging
import TestSupport
import Testing

/// A server of one test's own on loopback, the store behind it, and a worker's hand in that: jobs are completed with bytes
/// that the test chooses.
final class WebBench: Sendable {
    let folder: TemporaryFolder
    let store: any Store
    let port: UInt16
    private let server: Task<Void, any Error>

    init(
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        _ configure: (inout WebConfiguration) throws -> Void = { _ in }
    ) async throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(at: folder.path("store"))
        var configuration = WebConfiguration()
        configuration.presets = try PresetFile.builtIn()
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

    /// A worker of the store that has done nothing yet.
    @discardableResult
    func register(_ worker: String = "worker") async throws -> String {
        try await store.register(
            WorkerDescription(id: worker, host: "host", pid: 1, version: "test", concurrency: 4)
        )
        return worker
    }

    /// Completes the jobs that are due, for all of whose renditions the same was "rendered".
    func work(_ worker: String, with bytes: Data) async throws {
        for job in try await store.claim(
            ClaimRequest(limit: 100, background: 100, kind: .usual, queues: nil, for: worker)
        ) {
            let request = try job.parsedRequest()
            let rendered = zip(try request.thumbnailIDs(), request.renditions).map { id, rendition in
                RenderedThumbnail(id: id, rendition: rendition, encoded: .made(of: bytes))
            }
            let begun = try await store.beginFetch(job.claim, of: request)
            let provenance = Provenance(
                source: try SourceIdentity(of: request.source),
                sourceDigest: BlobDigest(of: bytes),
                sourceSeen: begun.sourceSeen,
                rendererVersion: "test",
                picture: PictureFacts(format: .png, width: 640, height: 480, pages: 1, hasAlpha: false),
                isTruncated: false
            )
            try await store.settle(job.claim, as: .complete(.rendered(rendered, provenance)), timings: AttemptTimings())
        }
    }

    /// Gives up the jobs that are due.
    func discard(
        _ worker: String,
        _ code: JobFailure.Code = .imageCorrupt,
        _ message: (_ source: String) -> String = { _ in "as the test wants it" }
    ) async throws {
        for job in try await store.claim(
            ClaimRequest(limit: 100, background: 100, kind: .usual, queues: nil, for: worker)
        ) {
            let failure = JobFailure(code, at: .render, message(SourceName.of(try job.parsedRequest().source)))
            _ = try await store.settle(job.claim, as: .discard(failure), timings: AttemptTimings())
        }
    }

    /// A thumbnail that has been made, with its id.
    func makeThumbnail(_ bytes: Data) async throws -> ThumbnailID {
        let receipt = try await enqueue(Rendition(width: 64))
        try await work(try await register(), with: bytes)
        guard case .thumbnail(let id) = receipt.thumbnails[0].uri else { throw CancellationError() }
        return id
    }

    /// Keeps an original as a worker does that has fetched it.
    func keep(_ uri: String, _ data: Data, freshFor seconds: Double) async throws {
        let source = CachedSource(
            key: SourceKey(uri: uri, scope: nil),
            finalURL: uri,
            head: CacheableResponse(status: 200, requestTime: Date(), responseTime: Date()),
            freshUntil: Date(timeIntervalSinceNow: seconds),
            blob: BlobDigest(of: data),
            bytes: data.count,
            sourceSeen: try await store.nextSourceSeen(),
            peers: [Peer(origin: "https://example.com:443", .address("8.8.8.8"))]
        )
        try await store.keep(source, data: data, budget: nil)
    }

    /// Runs a statement as another program does.
    func sql(_ statement: String) async throws {
        let script = ".timeout 120000\nPRAGMA wal_autocheckpoint=0;\n\(statement)\n"
        let result = try await run("sqlite3", ["\(store.location)/cameo.sqlite"], input: Data(script.utf8))
        try #require(result.exitStatus == 0, "\(result.errorText)")
    }

    /// The first bytes of a WebP file, and bytes that tell their place.
    static func picture(bytes count: Int = 4_000) -> Data {
        var data = Data("RIFF____WEBPVP8 ".utf8)
        while data.count < count { data.append(UInt8(data.count % 251)) }
        return data
    }
}
