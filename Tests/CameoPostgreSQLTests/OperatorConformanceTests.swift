import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// The main promises of a store, kept by programs of operators.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct OperatorConformanceTests {
    @Test(arguments: TestLength.few(ConformanceCase.main, whole: 20))
    func keeps(_ promise: ConformanceCase) async throws {
        let engine = try await PostgreSQLEngine(server: .shared()) { clock in
            try await RoleServer(clock: clock).open(.operate, clock: clock)
        }
        try await promise.run(try await Fixture(engine))
    }
}
