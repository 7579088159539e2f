import Foundation
import StoreConformance
import TestSupport
import Testing

/// Runs the conformance suite against the engine for fleets. The cases of a group run one after another, because each
/// opens many connections.
@Suite(.timeLimit(.minutes(10)))
struct PostgreSQLConformanceTests {
    private func keeps(_ promise: ConformanceCase) async throws {
        try await promise.run(try await Fixture(PostgreSQLEngine(server: .shared())))
    }

    @Test(.serialized, arguments: ConformanceGroup.claiming.cases)
    func claiming(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.settling.cases)
    func settling(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.enqueueing.cases)
    func enqueueing(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.accepting.cases)
    func accepting(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.joining.cases)
    func joining(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.limiting.cases)
    func limiting(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.losing.cases)
    func losing(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.operating.cases)
    func operating(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.retaining.cases)
    func retaining(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.keeping.cases)
    func keeping(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.repairing.cases)
    func repairing(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.backfilling.cases)
    func backfilling(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.caching.cases)
    func caching(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.following.cases)
    func following(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.reporting.cases)
    func reporting(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.telling.cases)
    func telling(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.counting.cases)
    func counting(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(.serialized, arguments: ConformanceGroup.attaching.cases)
    func attaching(_ promise: ConformanceCase) async throws { try await keeps(promise) }

    @Test(arguments: ConformanceGroup.allCases)
    func noGroupIsForgotten(_ group: ConformanceGroup) throws {
        let text = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        #expect(text.contains("arguments: ConformanceGroup.\(group).cases)"))
    }
}
