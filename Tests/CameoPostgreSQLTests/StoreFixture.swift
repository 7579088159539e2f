import CameoQueue
import CameoStore
import StoreConformance
import TestSupport

@testable import CameoPostgreSQL

/// A store for a single test, in a schema of its own, with a clock that the test controls.
struct StoreFixture: StoreSteps {
    let clock = ConformanceClock()
    let numbers = Numbers()
    let store: PostgreSQLStore
    private let engine: PostgreSQLEngine

    init() async throws {
        engine = try await PostgreSQLEngine(server: .shared())
        store = try PostgreSQLStore(DatabaseURL(engine.server.newURL()), clock: clock.storeClock)
    }

    var faces: any Store { store }

    var schema: String { store.url.schema }

    func anotherStore() throws -> PostgreSQLStore { try PostgreSQLStore(store.url, clock: clock.storeClock) }

    /// The same store as a program opens it that only reads.
    func reader() throws -> PostgreSQLStore { try PostgreSQLStore(store.url, .readOnly, clock: clock.storeClock) }

    /// Runs statements as another program does.
    @discardableResult
    func sql(_ statements: String) async throws -> String { try await engine.sql(statements, in: store) }

    /// The counts that disagree with the rows that they count, one a line; empty if all are right.
    func wrongCounts() async throws -> String { try await engine.faults(in: store).joined(separator: "\n") }
}

extension PostgreSQLTransaction {
    /// Waits until another transaction waits for a lock of this one. Other tests wait for locks on the same server. It
    /// blocks, and no task's end reaches it.
    func waitUntilAnotherWaits() throws {
        let waiting = "SELECT count(*) FROM pg_locks WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        let end = ContinuousClock.now + .seconds(60)
        while try value(waiting) == Int64(0) {
            guard ContinuousClock.now < end else { throw NeverHappened("nobody waits for this transaction") }
        }
    }
}
