import CameoModel
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// A store for a single test, in a schema of its own, with a clock that the test controls.
struct StoreFixture {
    let clock = ConformanceClock()
    let store: PostgreSQLStore
    private let server: PostgreSQLServer
    private let sources = Counter()

    init() async throws {
        server = try await .shared()
        store = try PostgreSQLStore(DatabaseURL(server.newURL()), clock: clock.storeClock)
    }

    var schema: String { store.url.schema }

    func anotherStore() throws -> PostgreSQLStore { try PostgreSQLStore(store.url, clock: clock.storeClock) }

    /// The same store as a program opens it that only reads.
    func reader() throws -> PostgreSQLStore { try PostgreSQLStore(store.url, .readOnly, clock: clock.storeClock) }

    /// Runs statements as another program does.
    @discardableResult
    func sql(_ statements: String) async throws -> String { try await server.sql(statements, schema: schema) }

    func register(_ id: String = "w1", in store: PostgreSQLStore? = nil) async throws {
        let worker = WorkerDescription(id: id, host: "host", pid: 1, version: "test", concurrency: 4)
        try await (store ?? self.store).register(worker)
    }

    /// Enqueues requests with different sources, because equal ones would join one job.
    @discardableResult
    func enqueue(_ count: Int = 1, change: (inout ThumbnailRequest) -> Void = { _ in }) async throws -> [EnqueueReceipt]
    {
        let numbers = sources.next(count)
        return try await store.enqueue(numbers.map { Self.request("file:///pictures/\($0).jpg", change: change) })
    }

    static func request(
        _ source: String = "file:///pictures/a.jpg",
        change: (inout ThumbnailRequest) -> Void = { _ in }
    ) -> ThumbnailRequest {
        var request = ThumbnailRequest(source: source, renditions: [Rendition(width: 64, height: 64)])
        change(&request)
        return request
    }

    /// What a renderer would have made for each rendition of a claimed job.
    static func rendered(
        _ job: ClaimedJob,
        bytes: Data = Data("thumbnail".utf8),
        overlay: String? = nil
    ) throws -> [RenderedThumbnail] {
        let request = try ThumbnailRequest(parsing: job.request.utf8)
        return zip(try request.thumbnailIDs(), request.renditions).map { id, rendition in
            RenderedThumbnail(
                id: id,
                rendition: rendition,
                encoded: .made(of: bytes, hasAlpha: true),
                overlayDigest: overlay.map { SHA256.digest(of: Data($0.utf8)) }
            )
        }
    }

    static func provenance(
        of name: String = "file:///pictures/a.jpg",
        seen: Int64 = 1,
        source: String = "picture",
        version: String = "test-1",
        isTruncated: Bool = false
    ) throws -> Provenance {
        Provenance(
            source: try SourceIdentity(of: name),
            sourceDigest: SHA256.digest(of: Data(source.utf8)),
            sourceSeen: seen,
            rendererVersion: version,
            picture: PictureFacts(format: .gif, width: 640, height: 480, pages: 3, hasAlpha: true),
            isTruncated: isTruncated
        )
    }
}

/// Yields each number once.
private final class Counter: Sendable {
    private let last = Mutex(0)

    func next(_ count: Int) -> Range<Int> {
        last.withLock { last in
            defer { last += count }
            return last..<(last + count)
        }
    }
}
