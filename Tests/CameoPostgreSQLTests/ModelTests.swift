import StoreConformance
import TestSupport
import Testing

/// The engine for fleets and the model of the queue.
@Suite(.timeLimit(.minutes(30)))
struct ModelTests {
    @Test func storeAndModelAgreeAfterEveryStep() async {
        // Workers of many machines meet in it, and it is the younger engine.
        await ModelSequences.agree(sequences: 200) { try await PostgreSQLEngine(server: .shared()) }
    }
}
