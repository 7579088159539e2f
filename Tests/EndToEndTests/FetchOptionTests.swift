import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The worker's options for HTTP servers, and for the originals that it keeps, which serve later jobs when their server is
    /// gone.
    @Suite(.timeLimit(.minutes(10)))
    struct FetchOptionTests {
        private let deployment: Deployment
        private let origin: Origin

        init() async throws {
            deployment = try await Deployment.withPhoto()
            origin = try await Origin.start(serving: deployment.pictures)
        }

        private func drain(_ arguments: String...) async throws -> ProcessResult {
            try await deployment.command(
                "cameo-worker --drain --allow-network 127.0.0.0/8 --retry base=0 --log-format json",
                arguments
            )
        }

        private func enqueue(_ source: String, width: Int, _ more: String...) async throws -> Int64 {
            let arguments = [source, "--size", "\(width)x", "--json"] + more
            let result = try await deployment.command("cameo-enqueue", arguments)
            try #require(result.exitStatus == 0, "\(result.errorText)")
            return try WireFormat.decode(EnqueueReceipt.self, from: result.standardOutput).jobID
        }

        private func state(_ id: Int64) async throws -> JobState { try await deployment.job(id).state }

        @Test func whatWasFetchedOnceMakesThumbnailsWhenItsServerIsGone() async throws {
            // Says nothing of caching: only the operator's word makes it one that is used without asking.
            let photo = origin.url("/picture.jpg?file=photo.jpg")
            let first = try await enqueue(photo, width: 64)
            let fetched = try await drain("--cache-time", "127.0.0.1=1d")
            #expect(try await state(first) == .completed)
            #expect(fetched.errorText.contains(#""source_from":"fetched""#), "\(fetched.errorText)")

            await origin.end()
            let second = try await enqueue(photo, width: 128)
            let cached = try await drain("--cache-time", "127.0.0.1=1d")
            #expect(try await state(second) == .completed)
            #expect(cached.errorText.contains(#""source_from":"cached""#), "\(cached.errorText)")

            // Both are of one fetch, and count as old as that (invariant I4).
            #expect(try await deployment.sql("SELECT count(*), count(DISTINCT source_seen) FROM thumbnail;") == "2|1")

            // Its day is over; nobody can be asked.
            _ = try await deployment.sql(
                "UPDATE source SET requested_at = requested_at - 200000000, responded_at = responded_at - 200000000;"
            )
            let third = try await enqueue(photo, width: 256)
            let stale = try await drain("--cache-time", "1d")
            #expect(try await state(third) == .completed)
            let line = try #require(stale.errorText.split(separator: "\n").first { $0.contains("served from cache") })
            #expect(line.contains(#""level":"warning""#))
            #expect(line.contains(photo))
            #expect(line.contains("cannot be reached"))
            #expect(stale.errorText.contains(#""source_from":"stale""#))

            // Named as what it is, the cached original needs no server and no leave.
            let name = try #require(photo.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let fourth = try await enqueue("cameo://source/\(name)", width: 32)
            _ = try await drain()
            #expect(try await state(fourth) == .completed)

            try await deployment.command("cameo-admin", ["forget", photo]).succeeded()
            let fifth = try await enqueue(photo, width: 512, "--max-attempts", "1")
            let sixth = try await enqueue("cameo://source/\(name)", width: 512)
            _ = try await drain("--remember-failures", "0")
            #expect(try await deployment.job(fifth).failure?.code == .sourceUnreachable)
            let failure = try #require(try await deployment.job(sixth).failure)
            #expect(failure.code == .sourceNotFound)
            #expect(failure.message.contains("is not in the source cache"))
        }

        @Test func onlyAJobThatInsistsAsksTheServerAgain() async throws {
            let photo = origin.url("/picture.jpg?file=photo.jpg")
            _ = try await enqueue(photo, width: 64)
            _ = try await drain("--cache-time", "1d")
            let content = try await enqueue(photo, width: 128, "--refresh", "if-changed")
            let insistent = try await enqueue(photo, width: 256, "--refresh", "always")
            _ = try await drain("--cache-time", "1d", "--concurrency", "1")
            for id in [content, insistent] { #expect(try await state(id) == .completed) }
            #expect(try await origin.counts().requests["/picture.jpg"] == 2)
        }

        @Test func aSmallerBudgetIsKeptToWithoutAJob() async throws {
            let photo = origin.url("/picture.jpg?file=photo.jpg")
            _ = try await enqueue(photo, width: 64)
            _ = try await drain()
            let key = SourceKey(uri: photo, scope: nil)
            #expect(try await (SQLiteStore(at: deployment.store) as any Store).cachedSources(key).count == 1)
            let worker = try deployment.startWorker("--max-cache 1K")
            try await deployment.waitUntil { try await $0.cachedSources(key).isEmpty }
            #expect(await worker.stop() == .exited(0))
        }

        @Test func thePageHasEveryOptionAndItsDefault() async throws {
            let help = try await deployment.command("cameo-worker --help").outputText
            let section = try #require(try Page.article("SourcesAndCache").section("The source cache"))
                .split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let options = try #require(help.components(separatedBy: "CACHE OPTIONS:").last)
                .components(separatedBy: "\n\n")[0]
            let words = options.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let names = options.matches(of: #/\n  (--[a-z-]+)/#).map { String($0.output.1) }
            #expect(names == ["--max-cache", "--cache-time", "--stale-if-error", "--remember-failures"])
            for name in names { #expect(section.contains("`\(name)"), "\(name)") }
            #expect(words.contains("(default: 2GiB)"), "\(words)")
            #expect(try Page.article("RunningAWorker").text.contains("| 2GiB | `--max-cache` |"))
            #expect(words.contains("(default: 10s)"))
            #expect(section.contains("`--remember-failures 10s`"))
        }

        @Test func withoutABudgetNothingIsKept() async throws {
            try await origin.script(
                "/scripted/photo.jpg",
                ScriptedAnswer(404, ["Cache-Control: max-age=60"])
            )
            for width in [20, 30] {
                _ = try await enqueue(origin.url("/scripted/photo.jpg"), width: width)
                _ = try await drain("--max-cache", "0")
            }
            #expect(try await origin.requests(of: "/scripted/photo.jpg").count == 2)
            _ = try await enqueue(origin.url("/scripted/photo.jpg"), width: 40)
            _ = try await drain()
            _ = try await enqueue(origin.url("/scripted/photo.jpg"), width: 50)
            let drained = try await drain()
            #expect(drained.errorText.contains("remembered since"))
            #expect(try await origin.requests(of: "/scripted/photo.jpg").count == 3)
        }

        // MARK: - Servers, headers and destinations

        private func enqueueHeld(width: Int) async throws -> EnqueueReceipt {
            let receipts = try await deployment.enqueue(origin.url("/held?file=photo.jpg"), "--size", "\(width)x")
            return try #require(receipts.first)
        }

        @Test func jobsShareADownloadThatBeganAfterTheyWereAccepted() async throws {
            for width in 20..<28 { _ = try await enqueueHeld(width: width) }
            let worker = try deployment.startWorker(
                "--allow-network 127.0.0.0/8 --concurrency 16 --fetch-concurrency 16 --host-concurrency 16"
            )
            try await origin.awaitArrivals(of: "/held")
            let began = { (count: Int) in
                try await eventually("\(count) fetches have begun") {
                    try await deployment.sql("SELECT value FROM sequence WHERE name = 'source_seen';") == "\(count)"
                }
            }
            try await began(8)
            #expect(try await origin.counts().requests["/held"] == 1)
            // Too late for the download in progress.
            _ = try await enqueueHeld(width: 28)
            try await origin.awaitArrivals(of: "/held", count: 2)
            try await origin.release()
            try await deployment.waitUntil { try await $0.status().count(.completed) == 9 }
            #expect(await worker.stop() == .exited(0))
            #expect(try await origin.counts().requests["/held"] == 2)
            // Thumbnails of one download have the same age.
            let ages = "SELECT count(DISTINCT source_seen), count(*) FROM thumbnail WHERE id IN"
            let wanted = "SELECT substr(json_extract(value, '$.uri'), -32) FROM job_status, json_each(thumbnails)"
            #expect(try await deployment.sql("\(ages) (\(wanted) WHERE job_status.id <= 8);") == "1|8")
            #expect(try await deployment.sql("\(ages) (\(wanted));") == "2|9")
        }

        @Test func aServersRetryAfterIsWaitedOut() async throws {
            let receipt = try #require(
                try await deployment.enqueue(origin.url("/status/503?after=1000"), "--size", "20x").first
            )
            let worker = try deployment.startWorker("--allow-network 127.0.0.0/8 --retry base=0")
            try await deployment.waitUntil { try await $0.job(receipt.jobID).state == .retryable }
            #expect(await worker.stop() == .exited(0))
            let job = try await deployment.job(receipt.jobID)
            let attempted = try #require(job.attemptedAt)
            #expect((1_000.0...2_000).contains(job.availableAt.timeIntervalSince(attempted)))
            #expect(
                job.failure?.message.hasSuffix("answered 503 Service Unavailable and asks to wait 1000 seconds") == true
            )
        }

        @Test(arguments: [false, true])
        func aMirrorIsAskedWithTheOperatorsHeader(fromAFile: Bool) async throws {
            let source = "http://pictures.invalid/a/photo.jpg?file=photo.jpg&needs=X-Key"
            let receipt = try #require(try await deployment.enqueue(source, "--size", "20x").first)
            let host = "http://127.0.0.1:\(origin.port)"
            let file = "\(deployment.folder.path("headers.json"))"
            try Data(#"{"\#(host)": {"X-Key": "hunter2, hunter3"}}"#.utf8).write(to: URL(filePath: file))
            let drained = try await deployment.command(
                "cameo-worker",
                [
                    "--drain", "--allow-network", "127.0.0.0/8", "--log-level", "trace", "--max-connections", "1",
                    "--rewrite", "http://pictures.invalid/=http://127.0.0.1:1/",
                    "--rewrite", "http://pictures.invalid/a/=\(origin.url("/"))",
                ],
                environment: fromAFile
                    ? ["CAMEO_HOST_HEADERS": file]
                    : ["CAMEO_HOST_HEADER": "\(host): X-Key: hunter2,\(host): X-B: hunter3"]
            ).succeeded()
            #expect(!drained.errorText.contains("hunter"))
            let job = try await deployment.job(receipt.jobID)
            #expect(job.state == .completed)
            // The URI was known when the job was enqueued, from the source as written.
            #expect(job.thumbnails.map(\.uri) == receipt.thumbnails.map(\.uri))
        }

        @Test(arguments: [
            ["--host-header", "example.com: hunter2"], ["--host-header", "example.com: Host: hunter2"],
            ["--host-headers", "/nowhere.json"], ["--rewrite", "http://a/"], ["--rewrite", "http://a=http://b/"],
            ["--cache-time", "a b=1d"],
        ])
        func whatCannotBeUsedIsRefusedAtOnce(arguments: [String]) async throws {
            let result = try await deployment.command("cameo-worker --drain", arguments)
            #expect(result.exitStatus == 2, "\(result.errorText)")
            #expect(!result.errorText.contains("hunter2"))
        }
    }
}
