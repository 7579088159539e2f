import CameoModel
import CameoQueue
import CameoSQLite
import CameoStore
import StoreConformance
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct WorkerStopTests {
    @Test func aDeadWorkerCannotBeStopped() async throws {
        let fixture = try StoreFixture()
        var registration: LiveWorker? = try await fixture.register()
        withExtendedLifetime(registration) {}
        registration = nil
        // Other tests start programs, and between fork and exec a child has a copy of the lock.
        try await eventually("the death is seen") { try await !fixture.store.stopWorker("w1", .now).isAlive }
    }
}
