import StoreConformance
import TestSupport
import Testing

/// The engine for fleets and the model of the queue.
@Suite(.timeLimit(.minutes(30)))
struct ModelTests {
    @Test func storeAndModelAgreeAfterEveryStep() async {
        await ModelSequences.agree(sequences: 6) { try await PostgreSQLEngine(server: .shared()) }
    }
}
