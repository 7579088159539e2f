import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// Runs the conformance suite against the engine for fleets.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct PostgreSQLConformanceTests {
    @Test(arguments: ConformanceCase.all)
    func keeps(_ promise: ConformanceCase) async throws {
        let engine = PostgreSQLEngine(server: try await .shared())
        try await promise.run(try await Fixture(engine))
    }
}

private struct PostgreSQLEngine: StoreEngine {
    let server: PostgreSQLServer

    func makeStore(clock: ConformanceClock) async throws -> any Store {
        try PostgreSQLStore(DatabaseURL(server.newURL()), clock: clock.storeClock)
    }

    func another(_ store: any Store, clock: ConformanceClock) async throws -> any Store {
        let store = try #require(store as? PostgreSQLStore)
        return try PostgreSQLStore(store.url, clock: clock.storeClock)
    }

    func kill(_ worker: String, in store: any Store) async throws {
        // As if it had been silent for two leases, which makes it count as dead.
        let store = try #require(store as? PostgreSQLStore)
        _ = try await server.sql("UPDATE worker SET lease_until = 0 WHERE id = '\(worker)'", schema: store.url.schema)
    }
}
