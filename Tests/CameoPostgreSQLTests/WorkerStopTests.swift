import CameoModel
import CameoStore
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

@Suite(.serialized, .timeLimit(.minutes(10)))
struct WorkerStopTests {
    @Test func onlyTheNamedWorkerIsToldToStop() async throws {
        let fixture = try await StoreFixture()
        for worker in ["asked", "other"] { try await fixture.register(worker) }
        #expect(try await fixture.store.sweep(for: "asked").stop == nil)
        let worker = try await fixture.store.stopWorker("asked", .drain)
        #expect((worker.id, worker.isAlive, worker.stopping) == ("asked", true, .drain))
        #expect(try await fixture.store.sweep(for: "asked").stop == .drain)
        #expect(try await fixture.store.sweep(for: "other").stop == nil)
    }

    @Test(arguments: [
        (WorkerStop.drain, WorkerStop.now, WorkerStop.now), (.now, .drain, .now), (.drain, .drain, .drain),
    ])
    func stopNowIsNotOverridden(first: WorkerStop, second: WorkerStop, heard: WorkerStop) async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        for stop in [first, second] { _ = try await fixture.store.stopWorker("w1", stop) }
        #expect(try await fixture.store.sweep(for: "w1").stop == heard)
    }

    /// Extending the lease keeps the stop request.
    @Test func theNextLeaseDoesNotForgetTheRequest() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        _ = try await fixture.store.stopWorker("w1", .now)
        try await fixture.store.extendLease(of: "w1")
        #expect(try await fixture.store.sweep(for: "w1").stop == .now)
    }

    @Test(arguments: [WorkerStop.drain, .now])
    func aStoppingWorkerClaimsNothingEvenBeforeItsNextSweep(stop: WorkerStop) async throws {
        let fixture = try await StoreFixture()
        for worker in ["asked", "other"] { try await fixture.register(worker) }
        try await fixture.enqueue()
        _ = try await fixture.store.stopWorker("asked", stop)
        #expect(try await fixture.store.claim(limit: 1, for: "asked").isEmpty)
        #expect(try await fixture.store.claim(limit: 1, for: "other").count == 1)
    }

    @Test func anUnknownWorkerIsRefusedByName() async throws {
        let fixture = try await StoreFixture()
        await #expect(throws: StoreError.noSuch(.worker, "w9")) { try await fixture.store.stopWorker("w9", .now) }
    }

    /// Its lease has run out, and nobody has rescued its jobs yet.
    @Test func aSilentWorkerIsShownAsDead() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        fixture.clock.advance(seconds: Double(Lease.betweenMachines) / 1_000 + 1)
        #expect(try await !fixture.store.stopWorker("w1", .now).isAlive)
    }
}
