import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `cameo-admin backfill`, and workers that give way to a site.
    @Suite(.timeLimit(.minutes(10)))
    struct BackfillTests {
        private let deployment: Deployment
        private let presets: String

        init() throws {
            deployment = try Deployment()
            presets = deployment.folder.path("presets.json")
            try write(#"{"name":"grid","width":32,"height":32,"fit":"cover"},{"name":"view","width":64}"#)
        }

        private func write(_ renditions: String) throws {
            let text = #"{"presets":{"site":{"renditions":[\#(renditions)]}}}"#
            try Data(text.utf8).write(to: URL(filePath: presets))
        }

        private struct Answer: Decodable {
            let sources, privateSources, goneSources, fresh, missing, changed, outdated, damaged: Int
            let jobs, enqueued, unlisted, removed: Int
        }

        private func backfill(_ arguments: String...) async throws -> Answer {
            let words = ["backfill", "--preset", "site", "--presets", presets, "--json"] + arguments
            let result = try await deployment.command("cameo-admin", words)
            guard result.exitStatus == 0 else { throw CommandFailed(result: result) }
            return try JSONDecoder().decode(Answer.self, from: result.standardOutput)
        }

        @Test func aLibraryFollowsItsPreset() async throws {
            let sources = (0..<4).map { "initials:A\($0)" }
            _ = try await deployment.enqueue(sources + ["--preset", "site", "--presets", presets])
            #expect(try await deployment.drain().exitStatus == 0)
            let none = try await backfill()
            #expect((none.sources, none.fresh, none.jobs, none.enqueued) == (4, 8, 0, 0))

            try write(#"{"name":"grid","width":48,"height":48},{"name":"view","width":64},{"name":"tiny","width":9}"#)
            let dry = try await backfill("--dry-run")
            #expect((dry.fresh, dry.missing, dry.changed, dry.jobs, dry.enqueued) == (4, 4, 4, 4, 0))
            #expect(try await deployment.status().count(.available) == 0)
            #expect(try await backfill("--source", "initials:A1").enqueued == 1)
            #expect(try await backfill().enqueued == 3, "one waits already")
            let status = try await deployment.command("cameo-status")
            #expect(status.outputText.contains(#/backfill +4 .*background/#), "\(status.outputText)")
            #expect(try await deployment.drain().exitStatus == 0)
            let done = try await backfill("--remove-unlisted")
            #expect((done.fresh, done.jobs, done.unlisted, done.removed) == (12, 0, 4, 4))
            #expect(try await backfill().unlisted == 0)
            #expect(try await deployment.status().thumbnails == 12)
        }

        @Test func itSpeaksPlainly() async throws {
            _ = try await deployment.enqueue("initials:AB --preset site --presets", presets)
            _ = try await deployment.drain()
            let arguments = ["backfill", "--preset", "gallery", "--remove-unlisted"]
            let dry = try await deployment.command("cameo-admin", arguments + ["--dry-run"])
            #expect(
                dry.outputText.hasPrefix(
                    "1 source: 0 renditions fresh, 1 missing, 2 changed, 0 of another renderer, 0 damaged\n"
                        + "1 job would be enqueued"
                ),
                "\(dry.outputText)"
            )
            #expect(dry.outputText.hasSuffix("\n0 thumbnails that no preset names would be removed\n"))
            #expect(dry.errorText.contains("no worker is alive"))
            let done = try await deployment.command("cameo-admin", arguments)
            #expect(done.outputText.contains("\n1 job enqueued, 0 already waiting"), "\(done.outputText)")
        }

        @Test(arguments: [
            ("--preset nosuch", "--preset nosuch: there is no such preset"),
            ("--preset gallery --preset gallery", "--preset gallery: its rendition"),
        ])
        func mistakesAreNamed(options: String, message: String) async throws {
            let result = try await deployment.command("cameo-admin backfill \(options)")
            #expect(result.exitStatus == 2 && result.errorText.contains(message), "\(result.errorText)")
        }

        @Test func whatAnotherRendererMadeIsMadeAgain() async throws {
            _ = try await deployment.enqueue("initials:AB initials:CD --preset site --presets", presets)
            _ = try await deployment.drain()
            _ = try await deployment.sql(
                "UPDATE thumbnail SET renderer_version = 'old' WHERE source = 'initials:AB' AND rendition LIKE '%view%';"
            )
            let worker = try deployment.startWorker()
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await $0.status().workers.contains { $0.rendererVersion != nil } }
            let answer = try await backfill()
            #expect((answer.fresh, answer.outdated, answer.enqueued) == (3, 1, 1))
            try await deployment.waitUntil { try await $0.queue("backfill").jobs[.completed] == 1 }
            #expect(try await deployment.sql("SELECT count(*) FROM thumbnail WHERE renderer_version = 'old';") == "0")
            #expect(try await backfill().jobs == 0)
        }

        @Test(.enabled(if: TestLength.isWhole, "--all")) func afterAKillItGoesOn() async throws {
            let store: any Store = try SQLiteStore(at: deployment.store)
            let sources = (0..<3_000).map { "initials:\($0 % 100)?size=\(16 + $0 / 100)" }
            try await make(sources, in: store)
            // Both renditions of these are to be made again.
            let stale = (0..<1_000).map { sources[$0 * 3] }
            _ = try await deployment.sql(
                """
                DELETE FROM thumbnail WHERE source IN (\(stale.map { "'\($0)'" }.joined(separator: ",")))
                  AND rendition NOT LIKE '%keep%';
                """
            )
            let backfill = try ChildProcess(
                try Deployment.executable("cameo-admin"),
                ["backfill", "--preset", "site", "--presets", presets],
                environment: ["CAMEO_STORE": deployment.store]
            )
            try await deployment.waitUntil { try await $0.status().count(.available) > 0 }
            backfill.killGroup()
            _ = await backfill.ending
            let answer = try await self.backfill()
            #expect(answer.jobs == 1_000)
            let jobs = try await deployment.sql(
                "SELECT count(*), count(DISTINCT source) FROM job_status WHERE queue = 'backfill';"
            )
            #expect(jobs == "1000|1000")
        }

        /// Makes the thumbnails of the preset, and one more by which the store knows the source, without a renderer.
        private func make(_ sources: [String], in store: any Store) async throws {
            let renditions = [
                Rendition(name: "grid", width: 32, height: 32, fit: .cover), Rendition(name: "view", width: 64),
                Rendition(name: "keep", width: 8),
            ]
            _ = try await store.enqueue(sources.map { ThumbnailRequest(source: $0, renditions: renditions) })
            let all = sources.count
            let wanted = ClaimRequest(limit: all, background: all, kind: .usual, queues: nil, for: "w1")
            let jobs = try await store.claim(wanted)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for job in jobs {
                    group.addTask {
                        let request = try job.parsedRequest()
                        let thumbnails = zip(try request.thumbnailIDs(), request.renditions).map { id, rendition in
                            RenderedThumbnail(id: id, rendition: rendition, encoded: .made(of: Data("thumbnail".utf8)))
                        }
                        let provenance = Provenance(
                            source: try SourceIdentity(of: request.source),
                            sourceDigest: BlobDigest(of: Data(request.source.utf8)),
                            sourceSeen: 1,
                            rendererVersion: "test-1",
                            picture: PictureFacts(format: .initials, width: 64, height: 64, pages: 1, hasAlpha: false),
                            isTruncated: false
                        )
                        let product = JobProduct.rendered(thumbnails, provenance)
                        try await store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
                    }
                }
                try await group.waitForAll()
            }
        }

        // MARK: - Workers beside a site

        /// Hours that have just ended when the test begins, by the worker's clock.
        private static var hoursGoneBy: String {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            func text(_ time: Date) -> String {
                let parts = calendar.dateComponents([.hour, .minute], from: time)
                let (hour, minute) = (parts.hour ?? 0, parts.minute ?? 0)
                return [hour, minute].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
            }
            return "\(text(.now.addingTimeInterval(-7_200)))-\(text(.now.addingTimeInterval(-3_600)))"
        }

        @Test func aBackgroundQueueWaitsForQuietHours() async throws {
            _ = try await deployment.enqueue("initials:AB")
            _ = try await deployment.enqueue("initials:CD --queue backfill")
            _ = try await deployment.command("cameo-admin queue backfill --background")
            let hours = Self.hoursGoneBy
            let drained = try await deployment.command(
                "cameo-worker",
                ["--drain", "--quiet-hours", hours],
                environment: ["TZ": "UTC"]
            )
            #expect(drained.exitStatus == 0 && drained.outputText.contains("1 completed"), "\(drained.errorText)")
            let warning = "warning  the queue backfill is open from \(hours): 1 job waits in it"
            #expect(drained.errorText.contains(warning), "\(drained.errorText)")

            let worker = try deployment.startWorker("--quiet-hours", hours, environment: ["TZ": "UTC"])
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await !$0.status().workers.isEmpty }
            let report = try await deployment.status()
            let queue = try #require(report.queues.first { $0.name == "backfill" })
            #expect(try #require(queue.opensAt) > report.generatedAt)
            #expect(report.workers.first?.quietHours?.hasPrefix("\(hours) ") == true)
            let text = try await deployment.command("cameo-status")
            #expect(text.outputText.contains("background, waits for quiet hours until "), "\(text.outputText)")
            let json = try await deployment.command("cameo-status --json")
            try await expectValid("status-report", json.standardOutput)
            let one = try await deployment.command("cameo-admin queue backfill")
            #expect(one.outputText.contains("1 available") && one.outputText.contains("waits for quiet hours"))
            let health = try await deployment.command("cameo-status health --max-lag 1ms")
            #expect(health.exitStatus == 0, "a background queue may wait: \(health.outputText)")
            // No queue of the background any more.
            _ = try await deployment.command("cameo-admin queue backfill --no-background")
            try await deployment.waitUntil { try await $0.status().count(.completed) == 2 }
        }

        /// The judge is `date`, which asks the C library.
        @Test(
            arguments: [
                "Europe/Berlin", ":Europe/Berlin", "/usr/share/zoneinfo/Asia/Kolkata", "CET-1CEST,M3.5.0,M10.5.0/3",
                "UTC-5", "<-0330>3:30", "Europe/Nowhere",
            ]
        )
        func theHoursAreThoseOfTheMachine(zone: String) async throws {
            func date(_ arguments: String...) async throws -> String {
                let shown = try await run("env", ["TZ=\(zone)", "date"] + arguments).outputText
                return shown.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            let begun = Int(Date.now.timeIntervalSince1970) - 3_600
            let opens = try await date("-d@\(begun)", "+%H:%M")
            let closes = try await date("-d@\(begun + 7_200)", "+%H:%M")
            let worker = try deployment.startWorker("--quiet-hours \(opens)-\(closes)", environment: ["TZ": zone])
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await !$0.status().workers.isEmpty }
            let shown = try #require(try await deployment.status().workers.first)
            let offset = try await date("+UTC%:z")
            #expect(shown.quietHours == "\(opens)-\(closes) \(offset)")
            // They are open, and end when the clock of the zone shows it, a change to summer time apart.
            let end = Date(timeIntervalSince1970: Double((begun + 7_200) / 60 * 60))
            let (closesAt, opensAt) = (try #require(shown.backgroundClosesAt), try #require(shown.backgroundOpensAt))
            #expect(abs(closesAt.timeIntervalSince(end)) <= 3_600 && closesAt < opensAt)
            let isUnknown = zone == "Europe/Nowhere"
            let fault = "TZ=Europe/Nowhere names no time zone that can be read"
            #expect(shown.timeZoneFault == (isUnknown ? fault : nil))
            let list = try await deployment.command("cameo-admin worker list").outputText
            #expect(list.contains(fault) == isUnknown, "\(list)")
            #expect(await worker.stop() == .exited(0))
            let log = String(decoding: worker.standardError, as: UTF8.self)
            #expect(log.contains("the quiet hours go by UTC: \(fault)") == isUnknown, "\(log)")
        }

        @Test func aWorkerAndItsRenderersAreNice() async throws {
            let worker = try deployment.startWorker("--nice 7,io=idle")
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await !$0.status().workers.isEmpty }
            // libdispatch gives some of its own threads another value if it may, as root may.
            #expect(try nice("/proc/\(worker.processID)/stat") == 7)
            let children = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
                guard Int(name) != nil, let fields = try? fields("/proc/\(name)/stat") else { return false }
                return fields[1] == "\(worker.processID)"
            }
            #expect(!children.isEmpty)
            for child in children {
                #expect(try nice("/proc/\(child)/stat") == 7)
                let ioClass = try await run("ionice", ["-p", child]).outputText
                #expect(ioClass.hasPrefix("idle"), "\(ioClass)")
            }
        }

        private func nice(_ path: String) throws -> Int { try #require(Int(fields(path)[16])) }

        /// The fields of proc(5)'s stat after the name, which may contain spaces.
        private func fields(_ path: String) throws -> [Substring] {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            return try #require(text.split(separator: ")").last).split(separator: " ")
        }
    }
}
