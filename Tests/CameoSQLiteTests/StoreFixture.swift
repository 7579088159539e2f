import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

/// A store for a single test, with a clock that the test controls.
struct StoreFixture {
    let folder: TemporaryFolder
    let clock = SettableClock()
    private let sources = Counter()
    let store: SQLiteStore

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(at: folder.path("store"), clock: clock.storeClock)
    }

    var path: String { store.directory.path }

    func anotherStore() throws -> SQLiteStore {
        try SQLiteStore(at: path, clock: clock.storeClock)
    }

    /// A foreign program, which may leave a transaction open.
    func stranger() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: store.directory.database, configuration: configuration)
    }

    @discardableResult
    func register(_ id: String = "w1", in store: SQLiteStore? = nil) async throws -> WorkerRegistration {
        try await (store ?? self.store).register(id: id, host: "host", pid: 1, version: "test", concurrency: 4)
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
        seen: Int64 = 1,
        source: String = "picture",
        version: String = "test-1",
        isTruncated: Bool = false
    ) throws -> Provenance {
        Provenance(
            source: try SourceIdentity(of: "file:///pictures/a.jpg"),
            sourceDigest: SHA256.digest(of: Data(source.utf8)),
            sourceSeen: seen,
            rendererVersion: version,
            picture: PictureFacts(format: .gif, width: 640, height: 480, pages: 3, hasAlpha: true),
            isTruncated: isTruncated
        )
    }
}

/// A clock that stands still until a test advances it.
final class SettableClock: Sendable {
    private struct Times {
        var now = Date(timeIntervalSince1970: 1_900_000_000)
        var uptime: Int64 = 1_000_000
    }

    private let times = Mutex(Times())

    func advance(seconds: Double) {
        times.withLock { times in
            times.now += seconds
            times.uptime += Int64(seconds * 1_000)
        }
    }

    var storeClock: StoreClock {
        StoreClock(
            now: { self.times.withLock { $0.now } },
            uptime: { self.times.withLock { $0.uptime } }
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

extension SQLiteStore {
    /// Discards claimed jobs concurrently, so that they share commits.
    func discard(_ jobs: [ClaimedJob], _ failure: JobFailure) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for job in jobs {
                group.addTask { try await self.fail(job.claim, with: failure, retryAt: nil, timings: AttemptTimings()) }
            }
            try await group.waitForAll()
        }
    }

    /// Cancels every waiting job.
    func cancelAll() async throws {
        var waiting = JobFilter()
        (waiting.states, waiting.limit) = ([.available], .max)
        _ = try await change(waiting, by: .cancel)
    }

    /// The maintenance lock, as soon as it is free: other tests of this process start programs, and between fork and
    /// exec a child has a copy of the previous holder's lock.
    func freeTurn() async throws -> MaintenanceTurn {
        try #require(try await maintenanceTurn(within: .seconds(300)))
    }
}
