import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// A worker is alive while its lease lasts.
@Suite(.timeLimit(.minutes(10)))
struct RescueTests {
    private static let lease = Double(Lease.betweenMachines) / 1_000

    /// A worker that dies while the server's clock is ahead has a lease of days; so has whoever maintains the store.
    @Test func noLeaseLastsLongerThanOne() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue()
        fixture.clock.jump(days: 5)
        try await fixture.register("dead")
        _ = try await fixture.store.claim(limit: 1, for: "dead")
        let abandoned = try #require(try await fixture.store.maintenanceTurn())
        fixture.clock.jump(days: -5)
        #expect(try await fixture.store.maintenanceTurn() != nil)
        #expect(try await fixture.store.sweep(for: "me").hasLostWorkers)
        #expect(try await fixture.store.rescueExpired(except: "me").rescued == 0, "it may live")
        #expect(try await !fixture.store.sweep(for: "me").hasLostWorkers)
        fixture.clock.advance(seconds: Self.lease + 1)
        #expect(try await fixture.store.rescueExpired(except: "me").rescued == 1)
        withExtendedLifetime(abandoned) {}
    }

    @Test func aSilentWorkersJobsAreReleasedAtOnceAndBlamedOnceItCountsAsDead() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(3)
        try await fixture.register("dead")
        let claimed = try await fixture.store.claim(limit: 2, for: "dead")
        #expect(try await fixture.store.rescueExpired(except: "me").workers.isEmpty)
        fixture.clock.advance(seconds: Self.lease + 1)
        let first = try await fixture.store.rescueExpired(except: "me")
        #expect((first.rescued, first.discarded, first.workers) == (2, [], ["dead"]))
        for job in claimed {
            let job = try await fixture.store.job(job.claim.jobID)
            #expect((job.state, job.attempt, job.crashCount) == (.available, 0, 0))
            #expect(job.attempts?.map(\.outcome) == [.interrupted])
        }
        await #expect(throws: StoreError.leaseLost(jobID: claimed[0].claim.jobID)) {
            try await fixture.store.release(claimed[0].claim)
        }
        #expect(try await !fixture.store.sweep(for: "me").hasLostWorkers, "nothing to do until it counts as dead")
        fixture.clock.advance(seconds: Self.lease)
        #expect(try await fixture.store.sweep(for: "me").hasLostWorkers)
        let second = try await fixture.store.rescueExpired(except: "me")
        #expect((second.rescued, second.workers) == (0, ["dead"]))
        #expect(try await fixture.store.status().workers.isEmpty)
        for job in claimed { #expect(try await fixture.store.job(job.claim.jobID).crashCount == 1) }
        #expect(try await fixture.store.job(3).crashCount == 0)
    }

    @Test func aWorkerThatComesBackIsNotToBlame() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue()
        try await fixture.register("silent")
        let job = try #require(try await fixture.store.claim(limit: 1, for: "silent").first)
        fixture.clock.advance(seconds: Self.lease - 1)
        try await fixture.store.extendLease(of: "silent")
        #expect(try await fixture.store.sweep(for: "silent").tokens == [job.claim.token])
        fixture.clock.advance(seconds: Self.lease + 1)
        #expect(try await fixture.store.rescueExpired(except: "me").rescued == 1)
        try await fixture.store.extendLease(of: "silent")
        #expect(try await fixture.store.sweep(for: "silent").tokens.isEmpty)
        #expect(try await fixture.store.claim(limit: 1, for: "silent").count == 1)
        // Dead at last: it is to blame for what it has now, once.
        fixture.clock.advance(seconds: 2 * Self.lease + 1)
        #expect(try await fixture.store.rescueExpired(except: "me").rescued == 1)
        #expect(try await fixture.store.job(1).crashCount == 1)
    }

    @Test func anIdleWorkersRowGoesOnceItCountsAsDead() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register("idle")
        fixture.clock.advance(seconds: Self.lease + 1)
        #expect(try await fixture.store.rescueExpired(except: "me").workers == [])
        fixture.clock.advance(seconds: Self.lease)
        #expect(try await fixture.store.rescueExpired(except: "me").workers == ["idle"])
        try await fixture.store.extendLease(of: "idle")
        #expect(try await fixture.store.status().workers.map(\.id) == ["idle"], "registered again by its next lease")
    }

    /// A picture that kills workers is claimed again before the death is known, and must not do so for ever.
    @Test func deathsThatAreKnownLateCountToo() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue()
        var deaths = 0
        while try await !fixture.store.job(1).state.isFinal {
            deaths += 1
            try #require(deaths < 12)
            try await fixture.register("w\(deaths)")
            var jobs = try await fixture.store.claim(limit: 1, for: "w\(deaths)")
            if jobs.isEmpty { jobs = try await fixture.store.claim(limit: 1, kind: .poison, for: "w\(deaths)") }
            #expect(jobs.count == 1)
            fixture.clock.advance(seconds: Self.lease + 1)
            _ = try await fixture.store.rescueExpired(except: "me")
        }
        #expect(try await fixture.store.job(1).failure?.code == .workerLost)
    }

    @Test func manyRescuersRescueEachJobOnce() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(40)
        for worker in ["a", "b", "c", "d"] {
            try await fixture.register(worker)
            #expect(try await fixture.store.claim(limit: 10, for: worker).count == 10)
        }
        fixture.clock.advance(seconds: 2 * Self.lease + 1)
        let stores = try (0..<4).map { _ in try fixture.anotherStore() }
        let rescued = try await withThrowingTaskGroup(of: Int.self) { group in
            for store in stores { group.addTask { try await store.rescueExpired(except: nil).rescued } }
            return try await group.reduce(0, +)
        }
        #expect(rescued == 40)
        #expect(try await fixture.sql("SELECT DISTINCT crash_count, attempt, state FROM task") == "1|0|1")
        #expect(try await fixture.wrongCounts() == "")
    }

    @Test(arguments: ["", ".", ".w", "w/1", "w 1", "é", String(repeating: "w", count: 65)])
    func aWorkerIDThatIsNotOneIsRefused(id: String) async throws {
        let fixture = try await StoreFixture()
        await #expect(throws: StoreError.self) { try await fixture.register(id) }
        let failure = await #expect(throws: PostgreSQLServer.Failure.self) {
            try await fixture.sql(
                """
                INSERT INTO worker(id, host, pid, version, concurrency, started_at, lease_until)
                VALUES ('\(id)', 'h', 1, '1', 1, 1, 1)
                """
            )
        }
        #expect(failure?.description.contains("a worker's id must be") == true)
    }

    @Test func aNameIsGivenToOneWorkerAtATime() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register("w1")
        await #expect(throws: StoreError.self) { try await fixture.register("w1", in: try fixture.anotherStore()) }
    }
}
