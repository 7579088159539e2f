import CameoModel
import CameoQueue
import CameoStore
import StoreConformance
import Testing

@testable import CameoPostgreSQL

@Suite(.serialized, .timeLimit(.minutes(10)))
struct WorkerStopTests {
    /// Its lease has run out, and nobody has rescued its jobs yet.
    @Test func aSilentWorkerIsShownAsDead() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        fixture.clock.advance(seconds: Double(Lease.betweenMachines) / 1_000 + 1)
        #expect(try await !fixture.store.stopWorker("w1", .now).isAlive)
    }
}
