import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Features of the queue for producers, with the real commands.
    @Suite(.timeLimit(.minutes(10)))
    struct QueueFeatureTests {
        @Test func sixteenProcessesThatAskForTheSameMakeOneJob() async throws {
            let deployment = try Deployment()
            let receipts = try await withThrowingTaskGroup(of: [EnqueueReceipt].self) { group in
                for index in 0..<16 {
                    group.addTask {
                        try await deployment.enqueue("a.jpg b.jpg --batch b\(index) --priority \(index)")
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(receipts.count == 32)
            #expect(Set(receipts.map(\.id)).count == 2)
            #expect(receipts.count { $0.outcome == .accepted } == 2)
            #expect(try await deployment.status().count(.available) == 2)
            #expect(try await deployment.job(1).priority == 15)
            let batches = try await deployment.sql("SELECT count(DISTINCT batch), count(*) FROM batch_status;")
            #expect(batches == "16|32")
        }

        /// A worker reads it although it may not run its job.
        @Test func theThumbnailsOfAnUploadBySQLAreKnownBeforeItsJobRuns() async throws {
            let deployment = try Deployment()
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            _ = try SQLiteStore(at: deployment.store)
            try await deployment.command("cameo-admin pause default --create").succeeded()
            let worker = try deployment.startWorker("--log-level error")
            defer { worker.killGroup() }
            let photo = "readfile('\(deployment.pictures)/photo.jpg')"
            let request = #"{"renditions":[{"width":64,"height":64}]}"#
            _ = try await deployment.sql("INSERT INTO upload(data, request) VALUES (\(photo), '\(request)');")
            let look = "SELECT thumbnails ->> '$[0].uri' FROM job_status;"
            try await deployment.waitUntil { _ in try await deployment.sql(look).hasPrefix("cameo://thumb/") }
            let uri = try await deployment.sql(look)
            #expect(try await deployment.sql("SELECT state FROM job_status;") == "available")
            let resumed = try await deployment.command("cameo-admin resume default")
            #expect(resumed.exitStatus == 0, "\(resumed.errorText)")
            try await deployment.waitUntil { try await $0.status().count(.completed) == 1 }
            #expect(try await deployment.sql(look) == uri)
            let read = try await deployment.command("cameo-status", ["cat", uri]).succeeded()
            #expect(PictureFormat(sniffing: read.standardOutput.prefix(64)) == .webp)
        }

        @Test func aBatchOfWhatIsMadeAlreadyHasItAll() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("initials:AL --size 32x32:png --batch first")
            #expect(try await deployment.drain().exitStatus == 0)
            let receipt = try #require(try await deployment.enqueue("initials:AL --size 32x32:png --batch again").first)
            #expect(receipt.outcome == .fresh)
            #expect(try await deployment.command("cameo-status batch again --wait").exitStatus == 0)
            let folder = deployment.folder.path("exported")
            #expect(
                try await deployment.command("cameo-status", ["export", folder, "--batch", "again"]).exitStatus == 0
            )
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
            #expect(try deployment.exported("exported") == ["initials_AL.32x32-png.png"])
        }

        /// The second job finds the same bytes and completes without a renderer.
        @Test(arguments: [("if-changed", false, true), ("if-changed", true, false), ("always", false, false)])
        func unchangedSourceIsNotRenderedAgain(refresh: String, changes: Bool, isKept: Bool) async throws {
            let deployment = try Deployment()
            let path = "\(deployment.pictures)/a.png"
            try Data(contentsOf: URL(filePath: try await Pictures.plain(40, 30))).write(to: URL(filePath: path))
            _ = try await deployment.enqueue(path, "--size", "20x20:png")
            #expect(try await deployment.drain().exitStatus == 0)
            if changes {
                try Data(contentsOf: URL(filePath: try await Pictures.plain(50, 30))).write(to: URL(filePath: path))
            }
            let receipt = try #require(
                try await deployment.enqueue(path, "--size", "20x20:png", "--refresh", refresh).first
            )
            #expect(receipt.outcome == .accepted)
            #expect(try await deployment.drain().exitStatus == 0)
            let job = try await deployment.job(receipt.jobID)
            #expect(job.state == .completed)
            #expect((job.attempts?.first?.renderMilliseconds == nil) == isKept)
            #expect((job.attempts?.first?.cpuMilliseconds == nil) == isKept)
            #expect(job.attempts?.first?.sourceBytes != nil, "it was looked at")
            #expect(job.thumbnails[0].source?.width == (changes ? 50 : 40))
        }

        @Test func whatIsFreshIsAnsweredAtOnce() async throws {
            let deployment = try Deployment()
            let arguments = ["initials:AB", "--size", "20x20:png"]
            _ = try await deployment.command("cameo-enqueue", arguments)
            #expect(try await deployment.drain().exitStatus == 0)
            let line = try await deployment.command("cameo-enqueue", arguments + ["--wait"])
            #expect(line.outputText.hasPrefix("-\tcompleted\tcameo://thumb/"), "\(line.outputText)\(line.errorText)")
            #expect(line.exitStatus == 0)
            #expect(try await deployment.status().count(.completed) == 1)
        }

        @Test func aJobMayBeForLaterAndBePutOff() async throws {
            let deployment = try Deployment()
            let receipt = try #require(try await deployment.enqueue("a.jpg --at 10m").first)
            #expect(receipt.state == .scheduled)
            #expect(abs(receipt.availableAt.timeIntervalSince(receipt.createdAt) - 600) < 300)
            let snoozed = try await deployment.command("cameo-admin snooze 1 --for 2090-01-31T12:00:00Z")
            #expect(snoozed.outputText == "job 1 was scheduled, is scheduled for 2090-01-31T12:00:00.000Z\n")
            #expect(try await deployment.command("cameo-admin snooze 9 --for 1m").exitStatus == 1)
        }

        /// The request's own policy: a negligible wait and three attempts.
        @Test func aRequestMayHaveARetryPolicyOfItsOwn() async throws {
            let deployment = try Deployment()
            let receipt = try #require(
                try await deployment.enqueue(
                    "http://127.0.0.1:9/a.jpg --max-attempts 3 --retry base=100ms,cap=100ms,jitter=0"
                ).first
            )
            // By the worker's own policy the second attempt would come after this test's time limit.
            let drain = try await deployment.drain("--allow-network 127.0.0.1/32 --retry base=600")
            #expect(drain.exitStatus == 1)
            let job = try await deployment.job(receipt.jobID)
            #expect((job.state, job.attempt, job.failure?.code) == (.discarded, 3, .sourceUnreachable))
            #expect(job.attempts?.count == 3)
        }

        /// How many jobs a worker gets.
        private func claim(_ limit: Int, _ worker: String, in store: any Store) async throws -> Int {
            let wanted = ClaimRequest(limit: limit, background: limit, kind: .usual, queues: nil, for: worker)
            return try await store.claim(wanted).count
        }

        @Test func limitsAreSetByHandAndByRequests() async throws {
            let deployment = try Deployment()
            let key = ["--concurrency-key", "tenant 7", "--concurrency-limit", "2"]
            _ = try await deployment.command("cameo-enqueue a.jpg b.jpg c.jpg --allow-missing", key)
            let store: any Store = try SQLiteStore(at: deployment.store)
            #expect(try await claim(9, "w1", in: store) == 2)
            #expect(
                try await deployment.command("cameo-admin limit").outputText
                    == "key tenant 7\t1 waiting, 2 of at most 2\n"
            )
            let raised = try await deployment.command(
                "cameo-admin",
                ["limit", "--key", "tenant 7", "--max-running", "3"]
            )
            #expect(raised.outputText == "key tenant 7 runs at most 3 at once\n")
            #expect(try await claim(9, "w1", in: store) == 1)
            let queue = try await deployment.command("cameo-admin queue default --max-running 1")
            #expect(queue.exitStatus == 0)
            #expect(try await deployment.status().queues.first?.maxRunning == 1)
        }

        @Test func ratesAreSetByHandAndHoldOverAllWorkers() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg b.jpg c.jpg")
            _ = try await deployment.enqueue("d.jpg e.jpg --concurrency-key k --concurrency-limit 9")
            func admin(_ arguments: String...) async throws -> String {
                let result = try await deployment.command("cameo-admin", arguments)
                #expect(result.exitStatus == 0, "\(arguments): \(result.errorText)")
                return result.outputText
            }
            #expect(try await admin("limit", "--key", "k", "--rate", "1/d") == "key k starts at most 1/d\n")
            #expect(try await admin("limit") == "key k\t2 waiting, 0 of at most 9, starts at most 1/d\n")
            #expect(try await admin("queue", "default", "--rate", "4/24h").hasSuffix(", starts at most 4/d\n"))
            #expect(try await deployment.command("cameo-status").outputText.contains("  starts at most 4/d\n"))
            #expect(try await deployment.status().queues.first?.rate == "4/d")
            let store: any Store = try SQLiteStore(at: deployment.store)
            #expect(try await claim(2, "w1", in: store) == 2)
            // One of the key's two jobs has to wait, and with this one the queue has started four.
            #expect(try await claim(9, "w2", in: store) == 2)
            #expect(try await claim(9, "w1", in: store) == 0)
            #expect(try await !admin("queue", "default", "--rate", "none").contains("starts at most"))
            #expect(try await claim(9, "w1", in: store) == 0, "the key's rate stands")
            #expect(try await admin("limit", "--key", "k", "--rate", "none") == "key k starts without a rate\n")
            #expect(try await claim(9, "w1", in: store) == 1)
        }

        @Test func aQueueIsSharedBetweenTenants() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg b.jpg c.jpg --tenant acme")
            _ = try await deployment.enqueue("d.jpg --tenant zoe")
            func admin(_ arguments: String) async throws -> String {
                let result = try await deployment.command("cameo-admin \(arguments)")
                #expect(result.exitStatus == 0, "\(arguments): \(result.errorText)")
                return result.outputText
            }
            #expect(try await !deployment.command("cameo-status").outputText.contains("TENANT"))
            #expect(try await admin("queue default --fair").contains(", fair"))
            #expect(try await admin("limit --tenant zoe --weight 2.5") == "tenant zoe has weight 2.5\n")
            let limits = try await admin("limit").split(separator: "\n")
            #expect(limits.map { $0.prefix { $0 != "," } } == ["tenant acme\t3 waiting", "tenant zoe\t1 waiting"])
            #expect(limits[1].hasSuffix(", weight 2.5"))
            let status = try await deployment.command("cameo-status").outputText
            #expect(status.contains("TENANT") && status.contains("acme") && status.contains("2.5"))
            #expect(try await deployment.status().tenants?.map(\.tenant) == ["acme", "zoe"])
            let store: any Store = try SQLiteStore(at: deployment.store)
            #expect(try await claim(2, "w1", in: store) == 2)
            #expect(try await deployment.status().tenants?.map(\.running) == [1, 1])
            let jobs = try await deployment.command("cameo-status jobs --tenant acme --json").outputText
            #expect(jobs.split(separator: "\n").count == 3)
            #expect(try await admin("cancel --tenant acme").contains("3"))
            for wrong in ["--tenant a", "--weight 2", "--tenant a --weight 0.001", "--tenant a --key k --weight 1"] {
                #expect(try await deployment.command("cameo-admin limit \(wrong)").exitStatus == 2, "\(wrong)")
            }
            #expect(try await !admin("queue default --no-fair").contains("fair"))
        }

        @Test func aDrainWaitsForItsRate() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("initials:A initials:B initials:C initials:D --size 16x")
            let arguments = ["queue", "default", "--rate", "1/200ms"]
            #expect(try await deployment.command("cameo-admin", arguments).exitStatus == 0)
            let drain = try await deployment.drain()
            #expect(drain.outputText.contains("4 completed"), "\(drain.outputText)\(drain.errorText)")
            let starts = try await deployment.sql("SELECT started_at FROM attempt ORDER BY 1;")
                .split(separator: "\n").compactMap { Int($0) }
            #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 >= 200 }, "\(starts)")
        }
    }
}
