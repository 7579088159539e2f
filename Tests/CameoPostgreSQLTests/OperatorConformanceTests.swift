import CameoStore
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// Every promise of a store, kept by programs of operators.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct OperatorConformanceTests {
    @Test(arguments: ConformanceCase.all)
    func keeps(_ promise: ConformanceCase) async throws {
        try await promise.run(try await Fixture(OperatorEngine()))
    }
}

private struct OperatorEngine: StoreEngine {
    func makeStore(clock: ConformanceClock) async throws -> any Store {
        try await RoleServer(clock: clock.storeClock).open(.operate, clock: clock.storeClock)
    }

    func another(_ store: any Store, clock: ConformanceClock) async throws -> any Store {
        try PostgreSQLStore(#require(store as? PostgreSQLStore).url, clock: clock.storeClock)
    }

    func kill(_ worker: String, in store: any Store) async throws {
        let schema = try #require(store as? PostgreSQLStore).url.schema
        _ = try await PostgreSQLServer.shared().sql(
            "UPDATE worker SET lease_until = 0 WHERE id = '\(worker)'",
            schema: schema
        )
    }
}
