import StoreConformance
import Testing

/// The embedded engine and the model of the queue.
@Suite(.timeLimit(.minutes(30)))
struct ModelTests {
    @Test func storeAndModelAgreeAfterEveryStep() async {
        // In memory: a sequence makes five hundred commits, and durability is not tested here.
        await ModelSequences.agree { try SQLiteEngine(in: "/dev/shm") }
    }
}
