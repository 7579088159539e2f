import CameoModel
import CameoQueue
import CameoStore
import StoreConformance
import Synchronization
import TestSupport

@testable import CameoSQLite

/// A store for a single test, with a clock that the test controls.
struct StoreFixture: StoreSteps {
    let folder: TemporaryFolder
    let clock = ConformanceClock()
    let numbers = Numbers()
    let store: SQLiteStore

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(at: folder.path("store"), clock: clock.storeClock)
    }

    var faces: any Store { store }

    var path: String { store.directory.path }

    func anotherStore() throws -> SQLiteStore {
        try SQLiteStore(at: path, clock: clock.storeClock)
    }

    /// A foreign program, which may leave a transaction open.
    func stranger() throws -> SQLiteClient { try SQLiteClient(store.directory.database) }

    /// Runs statements as another program does.
    func sql(_ statements: String) async throws -> String { try await SQLiteEngine.sql(statements, at: path) }

    @discardableResult
    func register(_ id: String = "w1", in store: SQLiteStore? = nil) async throws -> LiveWorker {
        let store = store ?? self.store
        try await store.register(WorkerDescription(id: id, host: "host", pid: 1, version: "test", concurrency: 4))
        return LiveWorker(id: id, store: store)
    }
}

/// A worker that dies with this value.
final class LiveWorker: Sendable {
    let id: String
    private let store: SQLiteStore

    init(id: String, store: SQLiteStore) {
        (self.id, self.store) = (id, store)
    }

    deinit {
        store.registrations.withLock { $0[id] = nil }
    }
}

extension SQLiteStore {
    func extendLease(_ worker: LiveWorker) async throws {
        try await extendLease(of: worker.id)
        withExtendedLifetime(worker) {}
    }

    func deregister(_ worker: LiveWorker) async throws {
        try await deregister(worker.id)
        withExtendedLifetime(worker) {}
    }

    /// Stores the thumbnails of a job and completes it.
    func complete(
        _ claim: Claim,
        storing thumbnails: [RenderedThumbnail],
        from provenance: Provenance,
        timings: AttemptTimings
    ) async throws(StoreError) {
        try await settle(claim, as: .complete(.rendered(thumbnails, provenance)), timings: timings)
    }
}
