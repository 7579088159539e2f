import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Retention, backups and the size of a store in use.
    @Suite(.timeLimit(.minutes(10)))
    struct UpkeepTests {
        @Test func aWorkerRemovesWhatItIsNotToKeepAndNothingElse() async throws {
            let deployment = try await Deployment.withPhoto()
            let receipt = try #require(try await deployment.enqueue("pictures/photo.jpg").first)
            _ = try await deployment.enqueue("pictures/none.jpg")
            #expect(try await deployment.drain().exitStatus == 1)
            let worker = try deployment.startWorker("--keep completed=0s,discarded=1h")
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await $0.status().count(.completed) == 0 }
            #expect(try await deployment.status().count(.discarded) == 1)
            let cat = try await deployment.command("cameo-status", ["cat", receipt.thumbnails[0].uri.text])
            #expect(cat.exitStatus == 0 && !cat.standardOutput.isEmpty)
            #expect(try await deployment.command("cameo-status job \(receipt.jobID)").exitStatus == 1)
            #expect(await worker.stop() == .exited(0))
            #expect(String(decoding: worker.standardError, as: UTF8.self).contains("pruned"))
        }

        /// Ages the store: everything in it was made long ago, and reads have been recorded since.
        private func age(_ deployment: Deployment) async throws {
            _ = try await deployment.sql(
                "UPDATE thumbnail SET updated_at = 1, read_at = 0; UPDATE epoch SET since = 1;"
            )
        }

        @Test(arguments: ["never", "if-changed"])
        func aThumbnailThatNobodyReadsGoesAndIsMadeAnewWhenAskedFor(refresh: String) async throws {
            let deployment = try Deployment()
            let photo = try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            let made = try #require(try await deployment.enqueue(photo).first).thumbnails[0].uri.text
            let other = try #require(try await deployment.enqueue(photo, "--size", "32x32").first).thumbnails[0].uri
                .text
            #expect(try await deployment.drain().exitStatus == 0)
            _ = try await deployment.enqueue(made, "--size", "16x16", "--at", "1d")
            try await age(deployment)
            let bytes = try await deployment.command("cameo-status", ["cat", other]).standardOutput
            #expect(!bytes.isEmpty, "and the reporter leaves no trace")
            let prune = ["prune", "--keep", "thumbnails=90d", "--json"]
            let dry = try await deployment.command("cameo-admin", prune + ["--dry-run"])
            #expect(dry.outputText.contains(#""thumbnails":1"#), "a job waits for the other: \(dry.outputText)")
            let worker = try deployment.startWorker(environment: ["CAMEO_KEEP_THUMBNAILS": "4h"])
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await $0.status().thumbnails == 1 }
            #expect(await worker.stop() == .exited(0))
            #expect(String(decoding: worker.standardError, as: UTF8.self).contains("thumbnails=1"))
            #expect(try await deployment.command("cameo-status", ["cat", made]).exitStatus == 0)
            #expect(try await deployment.command("cameo-status", ["cat", other]).exitStatus == 1)
            let gone = try await deployment.job(2)
            #expect(gone.state == .completed && gone.thumbnails[0].blob == nil)
            #expect(try await deployment.command("cameo-admin check").exitStatus == 0)

            let receipt = try #require(
                try await deployment.enqueue(photo, "--size", "32x32", "--refresh", refresh).first
            )
            #expect(receipt.outcome == .accepted && receipt.thumbnails[0].uri.text == other)
            let second = try deployment.startWorker()
            defer { second.killGroup() }
            try await deployment.waitUntil { try await $0.job(receipt.jobID).state == .completed }
            #expect(try await deployment.command("cameo-status", ["cat", other]).standardOutput == bytes)
        }

        /// The thumbnails that it was to keep are removed between the worker's look and its last write, by triggers,
        /// because nothing else is as quick: one during that write, which is then undone, the other for good when the
        /// job returns.
        @Test(arguments: ["never", "if-changed"])
        func aJobWhoseThumbnailGoesAtTheLastMomentMakesIt(refresh: String) async throws {
            let deployment = try Deployment()
            let photo = try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            _ = try await deployment.enqueue(photo)
            #expect(try await deployment.drain().exitStatus == 0)
            let request = """
                {"source":"file://\(photo)","renditions":[{"width":256,"height":256}],"maxAttempts":1,
                 "refresh":"\(refresh)","runAt":"2026-01-01T00:00:00Z"}
                """
            _ = try await deployment.sql(
                """
                INSERT INTO job(request) VALUES ('\(request)');
                CREATE TRIGGER under_the_write AFTER INSERT ON outcome WHEN NEW.state = 4 BEGIN
                  DELETE FROM thumbnail; END;
                CREATE TRIGGER for_good AFTER UPDATE OF state ON task WHEN NEW.state = 1 BEGIN
                  DELETE FROM thumbnail; END;
                """
            )
            try await deployment.drain().succeeded()
            let job = try await deployment.job(2)
            #expect(job.state == .completed && job.attempt == 1)
            #expect(job.attempts?.map(\.outcome) == [.released, .completed])
            #expect(job.thumbnails[0].blob != nil)
        }

        @Test func pruneTellsFirstAndRemovesThen() async throws {
            let deployment = try Deployment()
            let id = try #require(try await deployment.enqueue("a.jpg").first).jobID
            _ = try await deployment.command("cameo-admin cancel \(id)")
            let arguments = ["prune", "--keep", "cancelled=0ms", "--json"]
            let removed =
                #"{"blobBytes":0,"blobs":0,"cancelled":1,"completed":0,"concurrencyKeys":0,"discarded":0,"#
                + #""queues":0,"sourceFailures":0,"thumbnails":0}"# + "\n"
            let dry = try await deployment.command("cameo-admin", arguments + ["--dry-run"])
            #expect(dry.outputText == removed, "\(dry.errorText)")
            #expect(try await deployment.status().count(.cancelled) == 1)
            // The queue of the last job is removed after the job.
            let withQueue = removed.replacing(#""queues":0"#, with: #""queues":1"#)
            #expect(try await deployment.command("cameo-admin", arguments).outputText == withQueue)
            #expect(try await deployment.status().count(.cancelled) == 0)
            let kept = try await deployment.command("cameo-admin prune")
            let nothing = """
                0 completed, 0 cancelled and 0 discarded jobs, 0 thumbnails, 0 remembered failures, 0 concurrency keys, 0 queues, \
                0 blobs of 0 bytes removed

                """
            #expect(kept.outputText == nothing)
        }

        @Test(.enabled(if: TestLength.isWhole, "--all")) func aStoreIsCopiedWhileAWorkerRuns() async throws {
            let deployment = try Deployment()
            for index in 0..<12 { try deployment.add(try await Pictures.photo("jpg"), as: "\(index).jpg") }
            let worker = try deployment.startWorker()
            defer { worker.killGroup() }
            let receipts = try await deployment.enqueue("pictures/* --size 40x --size 1000x:png")
            try await deployment.waitUntil { try await $0.status().count(.completed) > 0 }
            let copy = deployment.folder.path("copy")
            try await deployment.command("cameo-admin", ["backup", copy]).succeeded()
            let environment = ["CAMEO_STORE": copy]
            let check = try await deployment.command("cameo-admin check --json", environment: environment).succeeded()
            #expect(!check.outputText.contains("warning"), "\(check.outputText)")
            try await deployment.command(
                "cameo-worker",
                ["--drain", "--allow-root", deployment.pictures],
                environment: environment
            ).succeeded()
            let store: any Store = try SQLiteStore(reading: copy)
            #expect(try await store.status().count(.completed) == receipts.count)
            let again = try await deployment.command("cameo-admin", ["backup", copy])
            #expect(again.exitStatus == 2 && again.errorText.contains("overwrites nothing"))
        }

        @Test func aBackupThatIsKilledLeavesNothingUnderItsName() async throws {
            let deployment = try Deployment()
            let store: any Store = try SQLiteStore(at: deployment.store)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<300 {
                    group.addTask { _ = try await store.store(Data(count: 200_000 + index), mediaType: nil) }
                }
                try await group.waitForAll()
            }
            let copy = deployment.folder.path("copy")
            let backup = try ChildProcess(
                try Deployment.executable("cameo-admin"),
                ["backup", copy],
                environment: ["CAMEO_STORE": deployment.store]
            )
            // The copies are in progress once the first one exists.
            while true {
                let names = try FileManager.default.contentsOfDirectory(atPath: deployment.folder.path)
                if names.contains("copy") { break }
                if let name = names.first(where: { $0.hasPrefix("copy.partial-") }) {
                    let blobs = "\(deployment.folder.path)/\(name)/blobs"
                    if (try? FileManager.default.contentsOfDirectory(atPath: blobs))?.count ?? 0 > 3 { break }
                }
                try Task.checkCancellation()
                await Task.yield()
            }
            backup.killGroup()
            #expect(await backup.ending == .signalled(SIGKILL), "it was faster than the test")
            #expect(!FileManager.default.fileExists(atPath: copy))
            let names = try FileManager.default.contentsOfDirectory(atPath: deployment.folder.path)
            let partial = try #require(names.first { $0.hasPrefix("copy.partial-") })
            let status = try await deployment.command(
                "cameo-status",
                environment: ["CAMEO_STORE": deployment.folder.path(partial)]
            )
            #expect(status.exitStatus == 4, "what is left is no store")
            #expect(
                try await deployment.command("cameo-admin", ["backup", copy]).exitStatus == 0,
                "and holds up nothing"
            )
        }

        @Test func vacuumRefusesBesideAWorkerUnlessTold() async throws {
            let deployment = try Deployment()
            let store: any Store = try SQLiteStore(at: deployment.store)
            let worker = try deployment.startWorker()
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await !$0.status().workers.isEmpty }
            let refused = try await deployment.command("cameo-admin vacuum")
            #expect(refused.exitStatus == 1 && refused.errorText.contains("--while-workers-wait"))
            let told = try await deployment.command("cameo-admin vacuum --while-workers-wait --json")
            #expect(told.exitStatus == 0 && told.outputText.contains(#""after":{"bytes":"#), "\(told.errorText)")
            #expect(await worker.stop() == .exited(0))
            #expect(try await deployment.command("cameo-admin vacuum").exitStatus == 0)
            #expect(try await store.status().schemaVersion > 0)
        }

        /// If only short commands write, they keep the log short.
        @Test func enqueueingMovesALongLogIntoTheDatabaseBeforeItEnds() async throws {
            let deployment = try Deployment()
            let store: any Store = try SQLiteStore(at: deployment.store)
            defer { withExtendedLifetime(store) {} }
            _ = try await deployment.sql("CREATE TABLE ballast(data); INSERT INTO ballast VALUES (zeroblob(20000000));")
            let log = "\(deployment.store)/cameo.sqlite-wal"
            let length = { try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int }
            #expect(try #require(try length()) > 20_000_000)
            try await deployment.command("cameo-enqueue https://example.com/a.jpg").succeeded()
            #expect(try length() == 0)
        }
    }
}
