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
        /// The living renderers of a worker (zombies excluded).
        private func renderers(of worker: Int32) throws -> Set<Int32> {
            var found: Set<Int32> = []
            for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
                guard let pid = Int32(name), let fields = processFields(pid), fields.parent == worker else { continue }
                found.insert(pid)
            }
            return found
        }

        private func processFields(_ pid: Int32) -> (state: Character, parent: Int32)? {
            guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
                let name = stat.lastIndex(of: ")")
            else { return nil }
            let fields = stat[stat.index(after: name)...].split(separator: " ")
            guard fields.count > 1, let state = fields[0].first, let parent = Int32(fields[1]) else { return nil }
            return (state, parent)
        }

        private func isAlive(_ pid: Int32) -> Bool {
            processFields(pid).map { $0.state != "Z" && $0.state != "X" } ?? false
        }

        /// Only once it has become a renderer: before, it shows the files that its parent has open.
        private func hasOpen(_ name: String, _ pid: Int32) -> Bool {
            let (files, process) = (FileManager.default, "/proc/\(pid)")
            let program = try? String(contentsOfFile: "\(process)/comm", encoding: .utf8)
            guard program?.hasPrefix("cameo-renderer") == true else { return false }
            let open = (try? files.contentsOfDirectory(atPath: "\(process)/fd")) ?? []
            return open.contains { file in
                (try? files.destinationOfSymbolicLink(atPath: "\(process)/fd/\(file)"))?.hasSuffix("/\(name)") == true
            }
        }

        /// Whether none is alive within two minutes: a renderer that nobody ends runs for its whole time limit.
        private func areGoneSoon(_ pids: Set<Int32>) async throws -> Bool {
            let started = ContinuousClock.now
            while started.duration(to: .now) < .seconds(120) {
                if !pids.contains(where: isAlive) { return true }
                try await Task.sleep(for: .milliseconds(10))
            }
            return false
        }

        @Test func killAfterKillLosesNothingDoublesNothingAndChargesNobody() async throws {
            try await killAfterKill(
                TestLength.rounds(8, full: 20),
                jobs: TestLength.rounds(250, full: 500),
                Deployment()
            ) { _ in
                [try await Pictures.photo("jpg"), try await Pictures.photo("png"), try await Pictures.photo("webp")]
            }
        }

        /// Half are videos: their frames have processes of their own, which die with their worker.
        @Test(.enabled(if: Deployment.servesVideos, "needs a build with CAMEO_VIDEO=1, and ffmpeg"))
        func killsAmongVideosAndPhotosLoseNothingDoubleNothingAndChargeNobody() async throws {
            try await killAfterKill(
                TestLength.rounds(4, full: 20),
                jobs: TestLength.rounds(100, full: 400),
                Deployment()
            ) { deployment in
                [
                    try await deployment.makeVideo("clip.mp4", "-c:v", "libx264"), try await Pictures.photo("jpg"),
                    try await deployment.makeVideo("clip.ts", "-c:v", "mpeg2video", "-r", "25"),
                    try await Pictures.photo("png"),
                    try await deployment.makeVideo("clip.webm", "-c:v", "libvpx", "-deadline", "realtime"),
                    try await Pictures.photo("webp"),
                ]
            }
        }

        private func killAfterKill(
            _ kills: Int,
            jobs: Int,
            _ deployment: Deployment,
            sources: (Deployment) async throws -> [String]
        ) async throws {
            let sources = try await sources(deployment)
            for index in 0..<jobs {
                let source = sources[index % sources.count]
                try deployment.add(source, as: "p\(index).\(URL(filePath: source).pathExtension)")
            }
            let receipts = try await deployment.enqueue(
                "pictures/*",
                "--size",
                "96x96:cover:webp",
                "--size",
                "200x:jpeg"
            )
            #expect(receipts.count == jobs)

            for _ in 0..<kills {
                let worker = try deployment.startWorker("--log-level", "error")
                let pid = Int(worker.processID)
                try await deployment.waitUntil { store in
                    try await store.status().workers.contains { $0.pid == pid && $0.running > 0 }
                }
                while try renderers(of: worker.processID).isEmpty { try await Task.sleep(for: .milliseconds(1)) }
                // The test needs a random moment, which nothing signals.
                try await Task.sleep(for: .milliseconds(.random(in: 0...150)))
                let children = try renderers(of: worker.processID)
                worker.send(SIGKILL)
                #expect(await worker.ending == .signalled(SIGKILL))
                #expect(!children.isEmpty)
                #expect(try await areGoneSoon(children))
            }
            let interrupted = try await deployment.sql(
                "SELECT count(DISTINCT worker) FROM attempt WHERE outcome = 'interrupted';"
            )
            // Only the next worker notices the death of the last one, and some are killed between two jobs.
            #expect(try #require(Int(interrupted)) >= kills * 3 / 4 - 1)
            #expect(
                try await deployment.status().count(.completed) < jobs,
                "all was done before the last kill: nothing was tested"
            )

            let drained = try await deployment.drain("--log-level", "error")
            #expect(drained.exitStatus == 0, "\(drained.errorText)")
            let status = try await deployment.status()
            #expect(status.count(.completed) == jobs)
            #expect(status.jobs.values.reduce(0, +) == jobs)
            #expect(status.workers.isEmpty)
            #expect(status.thumbnails == 2 * jobs)
            let seen = try await deployment.sql(
                "SELECT count(DISTINCT worker) FROM attempt WHERE outcome = 'interrupted';"
            )
            #expect(try #require(Int(seen)) >= kills * 3 / 4)
            // One completed attempt per job, counted as the first; all others were interrupted.
            let attempts = """
                SELECT count(*), sum(attempt = 1), sum(crash_count), (SELECT count(*) FROM attempt WHERE outcome = 'completed'),
                  (SELECT count(*) FROM attempt WHERE outcome = 'interrupted'),
                  (SELECT count(*) FROM attempt WHERE outcome NOT IN ('completed', 'interrupted')) FROM outcome;
                """
            let counts = try await deployment.sql(attempts).split(separator: "|").compactMap { Int($0) }
            #expect(counts.count == 6)
            let others = try await deployment.sql(
                "SELECT outcome, failure FROM attempt WHERE outcome NOT IN ('completed', 'interrupted');"
            )
            #expect((counts[0], counts[1], counts[3], counts[5]) == (jobs, jobs, jobs, 0), "\(others)")
            #expect(counts[2] == counts[4])
            try await expectEveryThumbnailDecodes(deployment, of: jobs)
            let check = try await deployment.command("cameo-admin", ["check"])
            #expect(check.exitStatus == 0, "\(check.outputText)")
        }

        private func expectEveryThumbnailDecodes(_ deployment: Deployment, of jobs: Int) async throws {
            let exported = try await deployment.command("cameo-status", ["export", "out"])
            #expect(exported.exitStatus == 0, "\(exported.errorText)")
            let out = deployment.folder.path("out")
            let files = try FileManager.default.contentsOfDirectory(atPath: out)
                .filter { $0 != "manifest.json" }.map { "\(out)/\($0)" }
            #expect(files.count == 2 * jobs)
            let headers = try await Pictures.tool("vipsheader", files).split(separator: "\n")
            let photo = try await Pictures.tool("vipsheader", [try await Pictures.photo("jpg")])
            #expect(headers.count == 2 * jobs)
            #expect(headers.count { $0.contains(".webp: 96x96 ") } == jobs)
            #expect(headers.count { $0.contains(".jpg: 200x") } == jobs, "\(photo)")
            // Decodes every pixel, by making a tiny copy of each thumbnail.
            let decoded = deployment.folder.path("decoded")
            try FileManager.default.createDirectory(atPath: decoded, withIntermediateDirectories: true)
            try await Pictures.tool("vipsthumbnail", files + ["--size", "8x8", "-o", "\(decoded)/%s.png"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: decoded).count == 2 * jobs)
        }

        @Test func aRendererKilledFromOutsideCostsOnlyAnAttempt() async throws {
            let deployment = try Deployment(renderer: "cameo-renderer-hooked")
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            try Data("CAMEO-TEST-HANG".utf8).write(to: URL(filePath: "\(deployment.pictures)/hang.jpg"))
            let hang = try #require(try await deployment.enqueue("pictures/hang.jpg").first)
            let worker = try deployment.startWorker("--retry-base", "0", "--render-concurrency", "1")
            // The first and, after the retry, the second renderer of the picture are killed from outside.
            let store = try SQLiteStore(reading: deployment.store)
            while try await store.job(hang.jobID).state != .discarded {
                for renderer in try renderers(of: worker.processID) where hasOpen("hang.jpg", renderer) {
                    kill(renderer, SIGKILL)
                }
                try await Task.sleep(for: .milliseconds(20))
            }
            let job = try await deployment.job(hang.jobID)
            #expect((job.state, job.failure?.code) == (.discarded, .renderCrashed))
            #expect(job.attempts?.map(\.failure?.code) == [.renderCrashed, .renderCrashed])
            let good = try await deployment.command(
                "cameo-enqueue",
                ["pictures/photo.jpg", "--wait", "--wait-timeout", "300"]
            )
            #expect(good.exitStatus == 0, "\(good.errorText)")
            worker.send(SIGTERM)
            #expect(await worker.ending == .exited(0))
        }

        @Test(arguments: [("CAMEO-TEST-CRASH", JobFailure.Code.renderCrashed), ("CAMEO-TEST-HANG", .renderTimedOut)])
        func aPictureThatKillsItsRendererCostsOnlyItsOwnJob(word: String, code: JobFailure.Code) async throws {
            let deployment = try Deployment(renderer: "cameo-renderer-hooked")
            for index in 0..<10 { try deployment.add(try await Pictures.photo("jpg"), as: "p\(index).jpg") }
            try Data(word.utf8).write(to: URL(filePath: "\(deployment.pictures)/p3-bad.jpg"))
            let receipts = try await deployment.enqueue("pictures/*", "--size", "64x64")
            let drained = try await deployment.drain("--render-timeout", "1", "--retry-base", "0.05")
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
            _ = try await deployment.enqueue("pictures/*", "--size", "200x200")
            let worker = try deployment.startWorker()
            try await deployment.waitUntil { try await $0.status().count(.completed) > 2 }
            worker.send(SIGTERM)
            #expect(await worker.ending == .exited(0))
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
            let worker = try deployment.startWorker("--grace", "0.2", "--render-timeout", "1h", "--job-timeout", "1h")
            try await deployment.waitUntil { try await $0.status().count(.running) == 1 }
            worker.send(SIGTERM)
            #expect(await worker.ending == .exited(0))
            let job = try await deployment.job(receipt.jobID)
            #expect((job.state, job.attempt, job.crashCount) == (.available, 0, 0))
            #expect(job.attempts?.map(\.outcome) == [.released])
        }

        @Test func cancellingARunningJobStopsItAndLeavesNothing() async throws {
            let deployment = try Deployment(renderer: "cameo-renderer-hooked")
            try Data("CAMEO-TEST-HANG".utf8).write(to: URL(filePath: "\(deployment.pictures)/hang.jpg"))
            let receipt = try #require(try await deployment.enqueue("pictures/hang.jpg").first)
            let worker = try deployment.startWorker(
                "--render-timeout",
                "1h",
                "--job-timeout",
                "1h",
                "--concurrency",
                "1",
                "--render-concurrency",
                "1"
            )
            try await deployment.waitUntil { try await $0.status().count(.running) == 1 }
            while try renderers(of: worker.processID).isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            // The oldest renderer has the picture; another may be on standby.
            let renderer = try #require(try renderers(of: worker.processID).min())
            let cancelled = try await deployment.command("cameo-admin", ["cancel", "\(receipt.jobID)"])
            #expect(try cancelled.outputText == "job \(receipt.jobID) is cancelled\n")
            // The only slot is free again long before the renderer's deadline.
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            let next = try await deployment.command(
                "cameo-enqueue",
                ["pictures/photo.jpg", "--wait", "--wait-timeout", "300"]
            )
            #expect(next.exitStatus == 0, "\(next.errorText)")
            #expect(!isAlive(renderer))
            try await expectCancelled(receipt, deployment)
            worker.send(SIGTERM)
            #expect(await worker.ending == .exited(0))
        }

        /// The server keeps the connection open and sends nothing more; only the cancellation can end the transfer so
        /// soon.
        @Test func cancellingAJobThatFetchesHangsUpOnTheServer() async throws {
            let deployment = try Deployment()
            let origin = try await Origin.start()
            let receipt = try #require(try await deployment.enqueue(origin.url("/stall")).first)
            let worker = try deployment.startWorker(
                "--allow-network",
                "127.0.0.0/8",
                "--low-speed",
                "0",
                "--fetch-timeout",
                "1h",
                "--job-timeout",
                "1h"
            )
            defer { worker.killGroup() }
            try await origin.awaitArrivals(of: "/stall")
            let cancelled = try await deployment.command("cameo-admin", ["cancel", "\(receipt.jobID)"])
            #expect(try cancelled.outputText == "job \(receipt.jobID) is cancelled\n")
            // The server waits for minutes, the worker would wait for an hour.
            try await origin.awaitAborts(of: "/stall")
            try await expectCancelled(receipt, deployment)
            worker.send(SIGTERM)
            #expect(await worker.ending == .exited(0))
        }

        private func expectCancelled(_ receipt: EnqueueReceipt, _ deployment: Deployment) async throws {
            let job = try await deployment.job(receipt.jobID)
            #expect((job.state, job.attempts?.map(\.outcome)) == (.cancelled, [.cancelled]))
            let thumbnails = "SELECT count(*) FROM thumbnail WHERE job_id = \(try receipt.jobID);"
            #expect(try await deployment.sql(thumbnails) == "0")
        }
    }
}
