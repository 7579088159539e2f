import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Poison jobs, of which worker after worker dies.
    @Suite(.timeLimit(.minutes(10)))
    struct PoisonJobTests {
        private let deployment: Deployment
        /// Two servers, so that each group of jobs is held and released separately.
        private let origin: Origin
        private let poisonOrigin: Origin

        init() async throws {
            deployment = try await Deployment.withPhoto()
            origin = try await Origin.start(serving: deployment.pictures)
            poisonOrigin = try await Origin.start(serving: deployment.pictures)
        }

        private func enqueue(_ source: String, width: Int) async throws -> Int64 {
            try #require(try await deployment.enqueue(source, "--size", "\(width)x").first).jobID
        }

        /// This many workers die right after their claim; there must be only one job.
        private func killWorkers(_ count: Int) async throws {
            for _ in 0..<count {
                let worker = try deployment.startWorker(environment: ["CAMEO_TEST_KILL_POINT": "after-claim:1"])
                #expect(await worker.ending == .signalled(SIGKILL))
            }
        }

        private func startWorker(
            _ arguments: String...,
            environment: [String: String?] = ["CAMEO_TEST_LEASE_MS": "1500"]
        ) throws -> ChildProcess {
            try deployment.startWorker(arguments + ["--allow-network", "127.0.0.0/8"], environment: environment)
        }

        /// Returns when the only worker has extended its lease twice, and so has looked for jobs in between.
        private func workerHasLookedAround() async throws {
            for _ in 0..<2 {
                let lease = try await deployment.sql("SELECT lease_until FROM worker;")
                try await eventually("the lease is extended") {
                    try await deployment.sql("SELECT lease_until FROM worker;") != lease
                }
            }
        }

        private func waitUntilCompleted(_ jobs: Int64...) async throws {
            try await deployment.waitUntil { store in
                try await store.states(of: jobs).values.allSatisfy { $0 == .completed }
            }
        }

        @Test func aJobThatWorkerAfterWorkerDiedOfIsDiscardedByName() async throws {
            let id = try await enqueue("pictures/photo.jpg", width: 20)
            try await killWorkers(ClaimKind.discardAfterCrashes)
            let drained = try await deployment.drain()
            #expect(drained.exitStatus == 1, "\(drained.outputText)")
            let job = try await deployment.job(id)
            #expect((job.state, job.failure?.code, job.crashCount) == (.discarded, .workerLost, 6))
        }

        /// It does not begin while others run, and others do not begin while it runs, so that a death has one possible
        /// cause.
        @Test func aPoisonJobRunsWithNothingBesideIt() async throws {
            let poison = try await enqueue(poisonOrigin.url("/held?file=photo.jpg"), width: 20)
            try await killWorkers(ClaimKind.poisonAfterCrashes)
            let innocent = try await enqueue(origin.url("/held?file=photo.jpg"), width: 30)
            let worker = try startWorker("--concurrency", "4")
            defer { worker.killGroup() }
            try await origin.awaitArrivals(of: "/held")
            try await workerHasLookedAround()
            #expect(try await deployment.job(poison).state == .available)

            try await origin.release()
            try await poisonOrigin.awaitArrivals(of: "/held")
            let late = try await enqueue("pictures/photo.jpg", width: 40)
            try await workerHasLookedAround()
            #expect(try await deployment.job(late).state == .available)

            try await poisonOrigin.release()
            try await waitUntilCompleted(innocent, poison, late)
            #expect(await worker.stop() == .exited(0))
        }

        /// Other jobs go first, but not forever.
        @Test(.enabled(if: TestLength.isWhole, "--all")) func aPoisonJobThatHasWaitedForAMinuteGoesFirst() async throws
        {
            let poison = try await enqueue("pictures/photo.jpg", width: 20)
            try await killWorkers(ClaimKind.poisonAfterCrashes)
            let running = try await enqueue(origin.url("/held?file=photo.jpg"), width: 30)
            let disk = try await FaultyDisk(in: deployment)
            let worker = try startWorker("--concurrency", "1", environment: disk.environment)
            defer { worker.killGroup() }
            try await origin.awaitArrivals(of: "/held")
            let waiting = try await enqueue("pictures/photo.jpg", width: 40)
            try disk.setClock(ahead: 3_600)
            try await workerHasLookedAround()
            try await origin.release()
            try await waitUntilCompleted(running, poison, waiting)
            let order = "SELECT job_id FROM attempt WHERE outcome = 'completed' ORDER BY started_at;"
            #expect(try await deployment.sql(order) == "\(running)\n\(poison)\n\(waiting)")
            #expect(await worker.stop() == .exited(0))
        }
    }
}
