import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

/// Runs the conformance suite against the embedded engine.
@Suite(.timeLimit(.minutes(10)))
struct SQLiteConformanceTests {
    @Test(arguments: ConformanceCase.all)
    func keeps(_ promise: ConformanceCase) async throws {
        let engine = SQLiteEngine(folder: try TemporaryFolder())
        try await promise.run(try await Fixture(engine))
    }
}

private struct SQLiteEngine: StoreEngine {
    let folder: TemporaryFolder

    func makeStore(clock: ConformanceClock) async throws -> any Store {
        try SQLiteStore(at: folder.path("store"), clock: clock.storeClock)
    }

    func another(_ store: any Store, clock: ConformanceClock) async throws -> any Store {
        try SQLiteStore(at: store.location, clock: clock.storeClock)
    }

    func kill(_ worker: String, in store: any Store) async throws {
        // Closes the lock file, as the kernel does when a process dies.
        let store = try #require(store as? SQLiteStore)
        store.registrations.withLock { $0[worker] = nil }
    }
}
