import CameoModel
import CameoSQLite
import CameoStore
import StoreConformance
import Testing

@Suite(.timeLimit(.minutes(10)))
struct WorkerStopTests {
    @Test func aDeadWorkerCannotBeStopped() async throws {
        let fixture = try StoreFixture()
        var registration: WorkerRegistration? = try await fixture.register()
        withExtendedLifetime(registration) {}
        registration = nil
        // Other tests start programs, and between fork and exec a child has a copy of the lock.
        while try await fixture.store.stopWorker("w1", .now).isAlive {
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
