import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Workers killed by SIGKILL, and their recovery by the next one.
    @Suite(.timeLimit(.minutes(10)), .serialized)
    struct KillTests {
        @Test func killAfterKillLosesNothingDoublesNothingAndChargesNobody() async throws {
            try await Deployment().killAfterKill(
                TestLength.rounds(8, full: 20),
                jobs: TestLength.rounds(250, full: 500),
                of: [
                    try await Pictures.photo("jpg"), try await Pictures.photo("png"), try await Pictures.photo("webp"),
                ]
            )
        }

        @Test func aRendererKilledFromOutsideCostsOnlyAnAttempt() async throws {
            let deployment = try Deployment(renderer: "cameo-renderer-hooked")
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            try Data("CAMEO-TEST-HANG".utf8).write(to: URL(filePath: "\(deployment.pictures)/hang.jpg"))
            let hang = try #require(try await deployment.enqueue("pictures/hang.jpg").first)
            let worker = try deployment.startWorker("--retry base=0 --render-concurrency 1")
            // The first and, after the retry, the second renderer of the picture are killed from outside.
            let store: any Store = try SQLiteStore(reading: deployment.store)
            while try await store.job(hang.jobID).state != .discarded {
                for renderer in try WorkerChildren.of(worker) where WorkerChildren.hasOpen("hang.jpg", renderer) {
                    kill(renderer, SIGKILL)
                }
                try await Task.sleep(for: .milliseconds(20))
            }
            let job = try await deployment.job(hang.jobID)
            #expect((job.state, job.failure?.code) == (.discarded, .renderCrashed))
            #expect(job.attempts?.map(\.failure?.code) == [.renderCrashed, .renderCrashed])
            try await deployment.command("cameo-enqueue pictures/photo.jpg --wait --wait-timeout 300").succeeded()
            #expect(await worker.stop() == .exited(0))
        }

        @Test(arguments: [("CAMEO-TEST-CRASH", JobFailure.Code.renderCrashed), ("CAMEO-TEST-HANG", .renderTimedOut)])
        func aPictureThatKillsItsRendererCostsOnlyItsOwnJob(word: String, code: JobFailure.Code) async throws {
            let deployment = try Deployment(renderer: "cameo-renderer-hooked")
            for index in 0..<10 { try deployment.add(try await Pictures.photo("jpg"), as: "p\(index).jpg") }
            try Data(word.utf8).write(to: URL(filePath: "\(deployment.pictures)/p3-bad.jpg"))
            let receipts = try await deployment.enqueue("pictures/* --size 64x64")
            let drained = try await deployment.drain("--render-timeout 1 --retry base=0.05")
            #expect(drained.exitStatus == 1)
            let bad = try #require(receipts.first { $0.source.hasSuffix("p3-bad.jpg") })
            let job = try await deployment.job(bad.jobID)
            #expect((job.state, job.failure?.code, job.attempt) == (.discarded, code, 2))
            #expect(job.failure?.message.contains("p3-bad.jpg") == true)
            #expect(try await deployment.status().count(.completed) == 10)
        }

        /// The request's own limit takes precedence over the worker's.
        @Test(arguments: [(["--timeout", "1"], ["--job-timeout", "1h"]), ([], ["--job-timeout", "1"])])
        func anAttemptBeyondItsTimeIsTheNamedFailureOfItsJob(request: [String], worker: [String]) async throws {
            let deployment = try Deployment(renderer: "cameo-renderer-hooked")
            try Data("CAMEO-TEST-HANG".utf8).write(to: URL(filePath: "\(deployment.pictures)/hang.jpg"))
            let hang = ["pictures/hang.jpg", "--max-attempts", "1"]
            let receipt = try #require(try await deployment.enqueue(hang + request).first)
            let options = ["--drain", "--allow-root", deployment.pictures, "--render-timeout", "1h"]
            #expect(try await deployment.command("cameo-worker", options + worker).exitStatus == 1)
            let job = try await deployment.job(receipt.jobID)
            #expect((job.state, job.failure?.code, job.failure?.stage) == (.discarded, .jobTimedOut, .worker))
            #expect(job.failure?.message.contains("hang.jpg") == true)
        }

        @Test func gracefulShutdownFinishesWhatRunsAndLeavesTheRest() async throws {
            let deployment = try Deployment()
            for index in 0..<100 { try deployment.add(try await Pictures.photo("png"), as: "p\(index).png") }
            _ = try await deployment.enqueue("pictures/* --size 200x200")
            let worker = try deployment.startWorker()
            try await deployment.waitUntil { try await $0.status().count(.completed) > 2 }
            #expect(await worker.stop() == .exited(0))
            let status = try await deployment.status()
            #expect((status.count(.running), status.workers.count) == (0, 0))
            #expect(status.count(.available) + status.count(.completed) == 100)
            #expect(status.count(.available) > 0)
            #expect(try await deployment.sql("SELECT count(*) FROM attempt WHERE outcome <> 'completed';") == "0")
        }

        @Test func shutdownBeyondItsGraceGivesJobsBackUncharged() async throws {
            let deployment = try Deployment(renderer: "cameo-renderer-hooked")
            try Data("CAMEO-TEST-HANG".utf8).write(to: URL(filePath: "\(deployment.pictures)/hang.jpg"))
            let receipt = try #require(try await deployment.enqueue("pictures/hang.jpg").first)
            let worker = try deployment.startWorker("--grace 0.2 --render-timeout 1h --job-timeout 1h")
            try await deployment.waitUntil { try await $0.status().count(.running) == 1 }
            #expect(await worker.stop() == .exited(0))
            let job = try await deployment.job(receipt.jobID)
            #expect((job.state, job.attempt, job.crashCount) == (.available, 0, 0))
            #expect(job.attempts?.map(\.outcome) == [.released])
        }

        @Test func cancellingARunningJobStopsItAndLeavesNothing() async throws {
            let deployment = try Deployment(renderer: "cameo-renderer-hooked")
            try Data("CAMEO-TEST-HANG".utf8).write(to: URL(filePath: "\(deployment.pictures)/hang.jpg"))
            let receipt = try #require(try await deployment.enqueue("pictures/hang.jpg").first)
            let worker = try deployment.startWorker(
                "--render-timeout 1h --job-timeout 1h --concurrency 1 --render-concurrency 1"
            )
            try await deployment.waitUntil { try await $0.status().count(.running) == 1 }
            try await eventually("there is a renderer") { try !WorkerChildren.of(worker).isEmpty }
            // The oldest renderer has the picture; another may be on standby.
            let renderer = try #require(try WorkerChildren.of(worker).min())
            let cancelled = try await deployment.command("cameo-admin cancel \(receipt.jobID)")
            #expect(try cancelled.outputText == "job \(receipt.jobID) is cancelled\n")
            // The only slot is free again long before the renderer's deadline.
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            try await deployment.command("cameo-enqueue pictures/photo.jpg --wait --wait-timeout 300").succeeded()
            #expect(!WorkerChildren.isAlive(renderer))
            try await expectCancelled(receipt, deployment)
            #expect(await worker.stop() == .exited(0))
        }

        /// The server keeps the connection open and sends nothing more; only the cancellation can end the transfer so
        /// soon.
        @Test func cancellingAJobThatFetchesHangsUpOnTheServer() async throws {
            let deployment = try Deployment()
            let origin = try await Origin.start()
            let receipt = try #require(try await deployment.enqueue(origin.url("/stall")).first)
            let worker = try deployment.startWorker(
                "--allow-network 127.0.0.0/8 --fetch-timeout 1h,low-speed=0 --job-timeout 1h"
            )
            defer { worker.killGroup() }
            try await origin.awaitArrivals(of: "/stall")
            let cancelled = try await deployment.command("cameo-admin cancel \(receipt.jobID)")
            #expect(try cancelled.outputText == "job \(receipt.jobID) is cancelled\n")
            // The server waits for minutes, the worker would wait for an hour.
            try await origin.awaitAborts(of: "/stall")
            try await expectCancelled(receipt, deployment)
            #expect(await worker.stop() == .exited(0))
        }

        private func expectCancelled(_ receipt: EnqueueReceipt, _ deployment: Deployment) async throws {
            let job = try await deployment.job(receipt.jobID)
            #expect((job.state, job.attempts?.map(\.outcome)) == (.cancelled, [.cancelled]))
            let thumbnails = "SELECT count(*) FROM thumbnail WHERE job_id = \(try receipt.jobID);"
            #expect(try await deployment.sql(thumbnails) == "0")
        }
    }
}
