import CameoModel
import CameoQueue
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RescueTests {
    /// Rescues until something is found: other tests of this process start programs, and between fork and exec a child
    /// has a copy of every lock file.
    private func rescue(in fixture: StoreFixture, except own: String = "me") async throws -> RescueReport {
        while true {
            let report = try await fixture.store.rescueExpired(except: own)
            if !report.workers.isEmpty { return report }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func aDeadWorkersJobsAreRescuedWithoutCountingTheAttempt() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue(3)
        var registration: LiveWorker? = try await fixture.register("dead")
        let claimed = try await fixture.store.claim(limit: 2, for: "dead")
        #expect(try await fixture.store.rescueExpired(except: "me").workers.isEmpty)
        withExtendedLifetime(registration) {}
        registration = nil  // closes the lock file, as the kernel does when the process dies
        let report = try await rescue(in: fixture)
        #expect((report.rescued, report.discarded, report.workers) == (2, [], ["dead"]))
        for job in claimed {
            let job = try await fixture.store.job(job.claim.jobID)
            #expect((job.state, job.attempt, job.crashCount) == (.available, 0, 1))
            #expect(job.attempts?.map(\.outcome) == [.interrupted])
        }
        #expect(try await fixture.store.status().workers.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(fixture.path)/workers").isEmpty)
        await #expect(throws: StoreError.leaseLost(jobID: claimed[0].claim.jobID)) {
            try await fixture.store.release(claimed[0].claim)
        }
    }

    @Test func aSilentWorkerLosesItsJobsAndMayComeBack() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue()
        let registration = try await fixture.register("silent")
        let job = try #require(try await fixture.store.claim(limit: 1, for: "silent").first)
        fixture.clock.advance(seconds: 29)
        #expect(try await fixture.store.rescueExpired(except: "me").rescued == 0)
        try await fixture.store.extendLease(registration)
        #expect(try await fixture.store.sweep(for: registration.id).tokens == [job.claim.token])
        fixture.clock.advance(seconds: 29)
        #expect(try await fixture.store.rescueExpired(except: "me").rescued == 0)
        fixture.clock.advance(seconds: 2)
        #expect(try await fixture.store.rescueExpired(except: "me").rescued == 1)
        #expect(try await fixture.store.job(1).crashCount == 0, "the job is not to blame")
        #expect(try await fixture.store.status().workers.map { "\($0.id) \($0.isAlive)" } == ["silent true"])
        try await fixture.store.extendLease(registration)
        #expect(try await fixture.store.sweep(for: registration.id).tokens.isEmpty)
        #expect(try await fixture.store.claim(limit: 1, for: "silent").count == 1)
        try await fixture.store.deregister(registration)
    }

    /// There is nothing to rescue, and the silence of an idle worker is no finding.
    @Test func aSilentWorkerWithoutJobsIsLeftAlone() async throws {
        let fixture = try StoreFixture()
        let registration = try await fixture.register("idle")
        fixture.clock.advance(seconds: 3_600)
        #expect(try await fixture.store.rescueExpired(except: "me").workers == [])
        try await fixture.store.deregister(registration)
    }

    /// Times of two boots, or of two machines, cannot be compared.
    @Test func aLeaseFromAnotherBootIsIgnored() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue()
        let registration = try await fixture.register("w1")
        #expect(try await fixture.store.claim(limit: 1, for: "w1").count == 1)
        _ = try await fixture.sql("UPDATE worker SET boot_id = 'another'")
        fixture.clock.advance(seconds: 3_600)
        #expect(try await fixture.store.rescueExpired(except: "me").workers == [])
        try await fixture.store.deregister(registration)
    }

    /// Its lease is extended between the look at the workers and the transaction that would rescue its jobs.
    @Test func aWorkerThatWakesMeanwhileKeepsItsJobs() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue()
        let registration = try await fixture.register("w1")
        #expect(try await fixture.store.claim(limit: 1, for: "w1").count == 1)
        fixture.clock.advance(seconds: 31)
        let store = try fixture.store(interruptedBy: "UPDATE worker SET lease_until = lease_until + 30000", before: 2)
        #expect(try await store.rescueExpired(except: "me").workers == [])
        #expect(try await store.job(1).state == .running)
        try await fixture.store.deregister(registration)
    }

    @Test func theSixthDeathDiscardsTheJobByName() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue()
        for death in 1...6 {
            var registration: LiveWorker? = try await fixture.register("w\(death)")
            let kind: ClaimKind = death > 3 ? .poison : .usual
            #expect(try await fixture.store.claim(limit: 1, kind: kind, for: "w\(death)").count == 1)
            withExtendedLifetime(registration) {}
            registration = nil
            let report = try await rescue(in: fixture)
            #expect((report.rescued, report.discarded.map(\.id)) == (death < 6 ? (1, []) : (0, [1])))
        }
        let job = try await fixture.store.job(1)
        #expect((job.state, job.failure?.code, job.crashCount) == (.discarded, .workerLost, 6))
        #expect(job.attempts?.count == 6)
    }

    @Test func statusDistinguishesDeadAndLivingWorkers() async throws {
        let fixture = try StoreFixture()
        var dead: LiveWorker? = try await fixture.register("dead")
        let living = try await fixture.register("living")
        withExtendedLifetime(dead) {}
        dead = nil
        try await eventually("the death is seen") { try await !fixture.store.status().workers.allSatisfy(\.isAlive) }
        let workers = try await fixture.store.status().workers
        #expect(workers.map { "\($0.id) \($0.isAlive)" } == ["dead false", "living true"])
        #expect(try await fixture.store.check().contains { $0.subject == "workers" && $0.severity == .warning })
        try await fixture.store.deregister(living)
    }

    private static let outside = "../../victim"

    private static func row(of worker: String) -> String {
        """
        INSERT INTO worker(id, host, pid, version, concurrency, started_at, boot_id, lease_until)
        VALUES ('\(worker)', 'h', 1, '1', 1, 1, 'b', 1)
        """
    }

    /// A user who can write to the store is trusted with it, but with nothing outside it.
    @Test(arguments: ["worker", "task"])
    func anIDThatIsAPathReachesNoFile(table: String) async throws {
        let fixture = try StoreFixture()
        try fixture.folder.write(Data("mine".utf8), to: "victim.lock")
        try await fixture.enqueue()
        _ = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        let row = Self.row(of: Self.outside)
        _ = try await fixture.sql(
            "PRAGMA ignore_check_constraints = 1; "
                + (table == "worker" ? "\(row); " : "") + "UPDATE task SET worker = '\(Self.outside)'"
        )
        let errors = try await fixture.store.check().filter { $0.severity == .error }.map(\.subject)
        #expect(errors == [table == "worker" ? "database" : "attempts"])
        let report = try await fixture.store.rescueExpired(except: "me")
        #expect((report.rescued, report.workers) == (1, [Self.outside]))
        #expect(FileManager.default.fileExists(atPath: fixture.folder.path("victim.lock")))
        #expect(try await fixture.store.check().allSatisfy { $0.severity != .error })
    }

    @Test(arguments: [outside, "", ".", "..", ".w", "w/1", "w 1", "é", String(repeating: "w", count: 65)])
    func aWorkerIDThatIsNoFileNameIsRefused(id: String) async throws {
        let fixture = try StoreFixture()
        await #expect(throws: StoreError.self) { try await fixture.register(id) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(fixture.path)/workers").isEmpty)
        let failure = await #expect(throws: StoreError.self) {
            _ = try await fixture.sql(Self.row(of: id))
        }
        let rule = "a worker's id must be a valid file name"
        #expect(failure?.description.contains(rule) == true, "\(String(describing: failure))")
    }

    @Test func aWorkerTakenForDeadIsRegisteredAgainWithItsNextLease() async throws {
        let fixture = try StoreFixture()
        let registration = try await fixture.register("me")
        try FileManager.default.removeItem(atPath: "\(fixture.path)/workers/me.lock")
        _ = try await rescue(in: fixture, except: "another")
        #expect(try await fixture.store.status().workers.isEmpty)
        try await fixture.store.extendLease(registration)
        #expect(try await fixture.store.status().workers.count == 1)
    }
}
