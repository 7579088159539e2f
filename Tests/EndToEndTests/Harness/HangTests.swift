import CameoModel
import CameoSQLite
import CameoStore
import CameoSystem
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Frozen workers, jumping clocks, and stores that refuse for a while.
    @Suite(.timeLimit(.minutes(10)), .serialized)
    struct HangTests {
        static let shortLease: [String: String?] = ["CAMEO_TEST_LEASE_MS": "1000"]
        private static let refusal = "the job is no longer this worker's"

        func everything(_ deployment: Deployment) async throws -> String {
            try await deployment.sql(
                "SELECT * FROM job_status; SELECT * FROM task; SELECT * FROM attempt; SELECT * FROM thumbnail;"
            )
        }

        /// A worker frozen between the render and the commit of the only job. Tries again if another of its threads was
        /// writing, which is another test.
        func startSleeper(
            _ environment: [String: String?] = shortLease
        ) async throws -> (Deployment, any Store, [EnqueueReceipt], ChildProcess) {
            while true {
                let deployment = try Deployment()
                let store: any Store = try SQLiteStore(at: deployment.store)
                let receipts = try await deployment.enqueueDistinct(1, in: store)
                let freeze: [String: String?] = ["CAMEO_TEST_FREEZE_POINT": "after-blob-sync:1"]
                let sleeper = try deployment.startWorker(environment: environment.merging(freeze) { $1 })
                try await sleeper.hasStopped()
                if try await deployment.isWritable() { return (deployment, store, receipts, sleeper) }
                sleeper.killGroup()
            }
        }

        /// Waits for the worker's line about the job's end, whatever it is.
        func expectRefusal(of job: EnqueueReceipt, to worker: ChildProcess) async throws {
            let name = "job=\(try job.jobID) "
            try await worker.hasSaidLine { $0.contains(name) && !$0.contains(Self.waiting) }
            #expect(String(decoding: worker.standardError, as: UTF8.self).contains(Self.refusal))
        }

        @Test func aWorkerThatWakesAfterItsLeaseFindsItsJobDoneAndChangesNothing() async throws {
            let (deployment, store, receipts, sleeper) = try await startSleeper()
            let heir = try deployment.startWorker(environment: Self.shortLease)
            try await deployment.expectCompletedOnce(receipts)
            try await deployment.expectUncharged(receipts)
            let job = try await store.job(receipts[0].jobID)
            // A machine may be suspended; its jobs are not to blame.
            #expect((job.crashCount, job.attempts?.map(\.outcome)) == (0, [.interrupted, .completed]))
            let before = try await everything(deployment)
            sleeper.send(SIGCONT)
            try await expectRefusal(of: receipts[0], to: sleeper)
            #expect(try await everything(deployment) == before)
            for worker in [sleeper, heir] {
                #expect(await worker.stop() == .exited(0))
            }
        }

        @Test func aWorkerThatWakesAfterItsLeaseCannotFinishTheJobOfItsHeir() async throws {
            let (deployment, _, receipts, sleeper) = try await startSleeper()
            // The other worker has the job, with a lease that outlasts the test, when the frozen one returns with its
            // result.
            let heir = try deployment.startWorker(environment: ["CAMEO_TEST_FREEZE_POINT": "after-claim:1"])
            try await heir.hasStopped()
            // Another of its threads may have been writing, and would hold all others up.
            while try await !deployment.isWritable() {
                heir.send(SIGCONT)
                heir.send(SIGSTOP)
                try await heir.hasStopped()
            }
            let before = try await everything(deployment)
            sleeper.send(SIGCONT)
            try await expectRefusal(of: receipts[0], to: sleeper)
            #expect(try await everything(deployment) == before)
            #expect(await sleeper.stop() == .exited(0))
            heir.send(SIGCONT)
            try await deployment.expectCompletedOnce(receipts)
            try await deployment.expectUncharged(receipts)
            #expect(await heir.stop() == .exited(0))
        }

        /// As by `docker pause`, or a laptop's lid.
        @Test func timeInWhichAWorkerIsFrozenIsChargedToNobody() async throws {
            let (deployment, origin) = (try Deployment(), try await Origin.start())
            let job = try await deployment.enqueue(origin.url("/never"))[0].jobID
            let worker = try deployment.startWorker("--fetch-timeout 2s --allow-network 127.0.0.0/8")
            defer { worker.killGroup() }
            try await origin.awaitArrivals(of: "/never")
            try await deployment.freeze(worker)
            // Longer than the limit, and than a process stands still by itself.
            try await Task.sleep(for: .seconds(4))
            worker.send(SIGCONT)
            try await deployment.waitUntil { try await $0.job(job).attempts?.count ?? 0 >= 2 }
            let attempts = try #require(try await deployment.job(job).attempts)
            #expect(attempts.first?.outcome == .released)
        }

        /// SQLite has one writer. One that is frozen with the lock blocks all others, but does no other harm.
        @Test func aWorkerFrozenInsideItsTransactionHoldsOthersUpAndNoMore() async throws {
            let deployment = try Deployment()
            let store: any Store = try SQLiteStore(at: deployment.store)
            let heir = try await deployment.startFrozenWorker(environment: Self.shortLease)
            let receipts = try await deployment.enqueueDistinct(3, in: store)
            let sleeper = try deployment.startWorker(
                "--concurrency 1",
                environment: Self.shortLease.merging(["CAMEO_TEST_FREEZE_POINT": "inside-transaction:1"]) { $1 }
            )
            try await sleeper.hasStopped()
            heir.send(SIGCONT)
            async let late = deployment.command("cameo-enqueue pictures/photo.jpg --size 33x33")
            // Twice the lease; nothing can happen meanwhile, so nothing can signal its end.
            try await Task.sleep(for: .seconds(2))
            sleeper.send(SIGCONT)
            let enqueued = try await late
            #expect(enqueued.exitStatus == 0, "\(enqueued.errorText)")
            try await deployment.expectCompletedOnce(receipts)
            for worker in [sleeper, heir] {
                #expect(await worker.stop() == .exited(0))
                #expect(!String(decoding: worker.standardError, as: UTF8.self).contains("locked"))
            }
        }

        @Test(.enabled(if: TestLength.isWhole, "--all"), arguments: [86_400, -86_400])
        func aClockThatJumpsEndsNoLeaseAndFreezesNone(seconds: Int) async throws {
            let deployment = try Deployment(renderer: "cameo-renderer-hooked")
            let disk = try await FaultyDisk(in: deployment)
            let environment = disk.environment.merging(["CAMEO_TEST_LEASE_MS": "8000"]) { $1 }
            try Data("CAMEO-TEST-HANG".utf8).write(to: URL(filePath: "\(deployment.pictures)/hang.jpg"))
            let hang = try #require(try await deployment.enqueue("pictures/hang.jpg").first)
            let holder = try deployment.startWorker(
                "--render-timeout 1h --render-concurrency 2",
                environment: environment
            )
            try await deployment.waitUntil { try await $0.job(hang.jobID).state == .running }
            let heir = try await deployment.startFrozenWorker("--render-timeout 1h", environment: environment)
            heir.send(SIGCONT)

            try disk.setClock(ahead: seconds)
            let store: any Store = try SQLiteStore(at: deployment.store)
            let now = try await deployment.enqueueDistinct(2, in: store)
            let due = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + Double(seconds)).rounded() + 9)
            let enqueued = try await deployment.command(
                "cameo-enqueue",
                ["pictures/photo.jpg", "--json", "--at", due.formatted(.iso8601)],
                environment: environment
            )
            let later = try WireFormat.decode(EnqueueReceipt.self, from: enqueued.standardOutput)
            #expect(later.state == .scheduled)
            // A scheduled job starts by the workers' clock: by then the lease was extended, or has expired.
            try await deployment.waitUntil { try await $0.job(later.jobID).state == .completed }
            #expect(Date().addingTimeInterval(Double(seconds)) >= due)
            for receipt in now { #expect(try await store.job(receipt.jobID).state == .completed) }
            let held = try await store.job(hang.jobID)
            #expect((held.state, held.attempts?.count) == (.running, 1))

            // And a worker that does fall silent is detected, whatever the date.
            try await deployment.freeze(holder)
            try await deployment.waitUntil { try await $0.job(hang.jobID).attempts?.count == 2 }
            #expect(try await store.job(hang.jobID).attempts?.first?.outcome == .interrupted)
            holder.killGroup()
            heir.killGroup()
        }

        /// A worker frozen at a kill point, with a disk that is full as soon as it resumes.
        private func startWorkerWithFullDisk(at point: KillPoint, _ deployment: Deployment) async throws -> (
            ChildProcess, FaultyDisk
        ) {
            let disk = try await FaultyDisk(in: deployment)
            let freeze: [String: String?] = ["CAMEO_TEST_FREEZE_POINT": "\(point.rawValue):1"]
            let worker = try deployment.startWorker(
                "--retry base=0",
                environment: disk.environment.merging(freeze) { $1 }
            )
            try await worker.hasStopped()
            try disk.fail("write ENOSPC -wal", count: 1_000_000)
            worker.send(SIGCONT)
            return (worker, disk)
        }

        @Test func aFailureIsRecordedAsSoonAsTheDiskTakesIt() async throws {
            let deployment = try Deployment()
            try Data("no picture".utf8).write(to: URL(filePath: "\(deployment.pictures)/bad.jpg"))
            let id = try #require(try await deployment.enqueue("pictures/bad.jpg").first).jobID
            let (worker, disk) = try await startWorkerWithFullDisk(at: .midFetch, deployment)
            defer { worker.killGroup() }
            try await disk.waitForFailures(6)
            #expect(try await deployment.job(id).state == .running)
            try disk.heal()
            try await deployment.waitUntil { try await $0.job(id).state != .running }
            let job = try await deployment.job(id)
            #expect((job.state, job.failure?.code) == (.discarded, .imageUnsupportedFormat))
            #expect(job.attempts?.map(\.outcome) == [.discarded])
            #expect(await worker.stop() == .exited(0))
        }

        /// A disk that is full before there is anything to store is not the job's fault. Reading a thumbnail has to be
        /// recorded first.
        @Test func aJobThatCannotEvenBeginIsGivenBackUncharged() async throws {
            let deployment = try Deployment()
            let store: any Store = try SQLiteStore(at: deployment.store)
            let made = try await deployment.enqueueDistinct(1, in: store)
            #expect(try await deployment.drain().exitStatus == 0)
            let source = made[0].thumbnails[0].uri.text
            let receipts = try await store.enqueue([
                ThumbnailRequest(source: source, renditions: [Rendition(width: 20)])
            ])
            let (worker, disk) = try await startWorkerWithFullDisk(at: .afterClaim, deployment)
            defer { worker.killGroup() }
            try await disk.waitForFailures(4)
            try disk.heal()
            try await deployment.expectCompletedOnce(receipts)
            let job = try await store.job(receipts[0].jobID)
            #expect((job.attempt, job.attempts?.map(\.outcome)) == (1, [.released, .completed]))
            #expect(await worker.stop() == .exited(0))
        }

        enum Relief: CaseIterable {
            case theDiskIsMended, theJobIsCancelled
        }

        @Test(
            arguments: TestLength.few(["write ENOSPC -wal", "write EIO -wal", "sync EIO -wal"], 1, whole: 1),
            Relief.allCases
        )
        func aSettlementIsRetriedUntilItIsCommittedOrTheClaimIsLost(rule: String, relief: Relief) async throws {
            let deployment = try Deployment()
            let disk = try await FaultyDisk(in: deployment)
            let store: any Store = try SQLiteStore(at: deployment.store)
            let receipts = try await deployment.enqueueDistinct(1, in: store)
            let freeze: [String: String?] = ["CAMEO_TEST_FREEZE_POINT": "after-blob-sync:1"]
            let worker = try deployment.startWorker(environment: disk.environment.merging(freeze) { $1 })
            try await worker.hasStopped()
            try disk.fail(rule, count: 1_000_000)
            worker.send(SIGCONT)
            // A first try and retries, each twice: in its group, and alone.
            try await disk.waitForFailures(6)
            let job = try await store.job(receipts[0].jobID)
            #expect((job.state, job.attempt) == (.running, 1))
            if relief == .theJobIsCancelled { _ = try await store.cancel(job.id) }
            try disk.heal()
            if relief == .theDiskIsMended {
                try await deployment.expectCompletedOnce(receipts)
                try await deployment.expectUncharged(receipts)
            } else {
                try await expectRefusal(of: receipts[0], to: worker)
                let job = try await store.job(receipts[0].jobID)
                #expect((job.state, job.attempts?.map(\.outcome)) == (.cancelled, [.cancelled]))
                #expect(try await deployment.sql("SELECT count(*) FROM thumbnail;") == "0")
            }
            #expect(await worker.stop() == .exited(0))
        }

        static let waiting = "waits for the store to take its result"
    }
}
