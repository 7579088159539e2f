import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The worker's options for HTTP servers.
    @Suite(.timeLimit(.minutes(10)))
    struct HTTPOptionTests {
        private let deployment: Deployment
        private let origin: Origin

        init() async throws {
            deployment = try Deployment()
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            origin = try await Origin.start(serving: deployment.pictures)
        }

        private func enqueueHeld(width: Int) async throws -> EnqueueReceipt {
            let receipts = try await deployment.enqueue(origin.url("/held?file=photo.jpg"), "--size", "\(width)x")
            return try #require(receipts.first)
        }

        @Test func jobsShareADownloadThatBeganAfterTheyWereAccepted() async throws {
            for width in 20..<28 { _ = try await enqueueHeld(width: width) }
            let worker = try deployment.startWorker(
                "--allow-network",
                "127.0.0.0/8",
                "--concurrency",
                "16",
                "--fetch-concurrency",
                "16",
                "--host-concurrency",
                "16"
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
            worker.send(SIGTERM)
            #expect(await worker.ending == .exited(0))
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
            let worker = try deployment.startWorker("--allow-network", "127.0.0.0/8", "--retry-base", "0")
            try await deployment.waitUntil { try await $0.job(receipt.jobID).state == .retryable }
            worker.send(SIGTERM)
            #expect(await worker.ending == .exited(0))
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
            )
            #expect(drained.exitStatus == 0, "\(drained.errorText)")
            #expect(!drained.errorText.contains("hunter"))
            let job = try await deployment.job(receipt.jobID)
            #expect(job.state == .completed)
            // The URI was known when the job was enqueued, from the source as written.
            #expect(job.thumbnails.map(\.uri) == receipt.thumbnails.map(\.uri))
        }

        @Test(arguments: [
            ["--host-header", "example.com: hunter2"], ["--host-header", "example.com: Host: hunter2"],
            ["--host-headers", "/nowhere.json"], ["--rewrite", "http://a/"], ["--rewrite", "http://a=http://b/"],
            ["--max-connections", "0"],
        ])
        func whatCannotBeUsedIsRefusedAtOnce(arguments: [String]) async throws {
            let result = try await deployment.command("cameo-worker", ["--drain"] + arguments)
            #expect(result.exitStatus == 2, "\(result.errorText)")
            #expect(!result.errorText.contains("hunter2"))
        }
    }
}
