import CameoModel
import CameoSQLite
import CameoStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct WorkerStopTests {
    @Test func onlyTheNamedWorkerIsToldToStop() async throws {
        let fixture = try StoreFixture()
        let (asked, other) = (try await fixture.register("asked"), try await fixture.register("other"))
        #expect(try await fixture.store.sweep(for: asked.id).stop == nil)
        let worker = try await fixture.store.stopWorker("asked", .drain)
        #expect((worker.id, worker.isAlive, worker.stopping) == ("asked", true, .drain))
        #expect(try await fixture.store.sweep(for: asked.id).stop == .drain)
        #expect(try await fixture.store.sweep(for: other.id).stop == nil)
    }

    @Test(arguments: [
        (WorkerStop.drain, WorkerStop.now, WorkerStop.now), (.now, .drain, .now), (.drain, .drain, .drain),
    ])
    func stopNowIsNotOverridden(first: WorkerStop, second: WorkerStop, heard: WorkerStop) async throws {
        let fixture = try StoreFixture()
        let registration = try await fixture.register()
        for stop in [first, second] { _ = try await fixture.store.stopWorker("w1", stop) }
        #expect(try await fixture.store.sweep(for: registration.id).stop == heard)
    }

    /// Extending the lease keeps the stop request.
    @Test func theNextLeaseDoesNotForgetTheRequest() async throws {
        let fixture = try StoreFixture()
        let registration = try await fixture.register()
        _ = try await fixture.store.stopWorker("w1", .now)
        try await fixture.store.extendLease(registration)
        #expect(try await fixture.store.sweep(for: registration.id).stop == .now)
    }

    @Test(arguments: [WorkerStop.drain, .now])
    func aStoppingWorkerClaimsNothingEvenBeforeItsNextSweep(stop: WorkerStop) async throws {
        let fixture = try StoreFixture()
        let (asked, other) = (try await fixture.register("asked"), try await fixture.register("other"))
        try await fixture.enqueue()
        _ = try await fixture.store.stopWorker(asked.id, stop)
        #expect(try await fixture.store.claim(limit: 1, for: asked.id).isEmpty)
        #expect(try await fixture.store.claim(limit: 1, for: other.id).count == 1)
    }

    @Test func anUnknownWorkerIsRefusedByName() async throws {
        let fixture = try StoreFixture()
        await #expect(throws: StoreError.noSuch(.worker, "w9")) { try await fixture.store.stopWorker("w9", .now) }
    }

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
