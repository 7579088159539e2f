import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// An operator's changes to a queue with running workers.
    @Suite(.timeLimit(.minutes(10)))
    struct OperatorTests {
        @Test func aPausedQueueWaitsAndAResumedOneIsWorkedOnAtOnce() async throws {
            let deployment = try await Deployment.withPhoto()
            let paused = try #require(try await deployment.enqueue("pictures/photo.jpg --queue imports").first)
            let pause = try await deployment.command("cameo-admin pause imports")
            #expect(pause.outputText == "queue imports is paused\n", "\(pause.errorText)")
            let worker = try deployment.startWorker()
            defer { worker.killGroup() }
            let other = try #require(try await deployment.enqueue("pictures/photo.jpg").first)
            try await deployment.waitUntil { try await $0.states(of: [other.jobID])[other.jobID] == .completed }
            #expect(try await deployment.job(paused.jobID).state == .available)
            let list = try await deployment.command("cameo-admin queue imports")
            #expect(list.outputText.contains("1 available") && list.outputText.contains("paused"))
            let json = try await deployment.command("cameo-admin queue --json")
            #expect(json.outputText.split(separator: "\n").count == 2)
            #expect(try await deployment.command("cameo-admin resume imports").exitStatus == 0)
            try await deployment.waitUntil { try await $0.states(of: [paused.jobID])[paused.jobID] == .completed }
        }

        @Test(arguments: [["pause", "none"], ["resume", "none"], ["queue", "none"]])
        func aQueueThatIsNotThereIsOne(arguments: [String]) async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg")
            let result = try await deployment.command("cameo-admin", arguments)
            #expect(result.exitStatus == 1)
            #expect(result.errorText == "cameo-admin: there is no queue none\n")
        }

        @Test func discardedJobsAreListedWithTheirReasonsAndRetriedByThem() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("pictures/a.jpg pictures/b.jpg --batch b")
            try Data("no picture".utf8).write(to: URL(filePath: "\(deployment.pictures)/c.jpg"))
            _ = try await deployment.enqueue("pictures/c.jpg")
            #expect(try await deployment.drain().exitStatus == 1)
            let missing = try await deployment.command("cameo-status jobs --state discarded --code source.notFound")
            let lines = missing.outputText.split(separator: "\n").dropFirst()  // the heading
            #expect(lines.count == 2 && lines.allSatisfy { $0.contains(" (source.notFound)") })
            let dry = try await deployment.command("cameo-admin retry --code source.notFound --dry-run --json")
            #expect(dry.outputText == #"{"changed":0,"matched":2,"passed":0}"# + "\n", "\(dry.errorText)")
            try deployment.add(try await Pictures.photo("jpg"), as: "a.jpg")
            let retry = try await deployment.command("cameo-admin retry --code source.notFound --batch b")
            #expect(retry.outputText == "2 jobs are available again\n")
            #expect(try await deployment.drain().exitStatus == 1)
            let job = try await deployment.command("cameo-status job 1")
            #expect(job.outputText.contains("job 1: completed"))
            #expect(job.outputText.contains(#/try 1 .* discarded after .* source\.notFound: /#))
            #expect(job.outputText.contains(#/try 2 .* completed after .* fetch .* ms, render .* ms, store .* ms/#))
        }

        @Test func aBatchIsWaitedFor() async throws {
            let deployment = try await Deployment.withPhoto()
            _ = try await deployment.enqueue("pictures/photo.jpg --batch holiday --size 20x --size 30x")
            let late = try await deployment.command("cameo-status batch holiday --wait --wait-timeout 50ms")
            #expect(late.exitStatus == 3 && late.errorText.contains("not finished within 50ms"))
            let worker = try deployment.startWorker()
            defer { worker.killGroup() }
            let done = try await deployment.command("cameo-status batch holiday --wait --json").succeeded()
            let report = try WireFormat.decode(BatchReport.self, from: done.standardOutput)
            #expect((report.total, report.finished, report.count(.completed)) == (1, 1, 1))
            _ = try await deployment.enqueue("pictures/none.jpg --batch holiday")
            let failed = try await deployment.command("cameo-status batch holiday --wait")
            #expect(failed.exitStatus == 1)
            #expect(failed.outputText.contains("source.notFound"))
            #expect(try await deployment.command("cameo-status batch nothing").exitStatus == 1)
        }

        @Test func aBatchThatWasCalledOffIsOne() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("pictures/photo.jpg --batch holiday")
            #expect(try await deployment.command("cameo-status batch holiday").exitStatus == 0)
            #expect(try await deployment.command("cameo-admin cancel 1").exitStatus == 0)
            #expect(try await deployment.command("cameo-status batch holiday --wait").exitStatus == 1)
        }

        // MARK: - Mistakes

        @Test func isNamedAndChangesNothing() async throws {
            let deployment = try Deployment()
            try Data().write(to: URL(filePath: deployment.folder.path("file")))
            _ = try await deployment.enqueue("photo.jpg")
            let before = try FileManager.default.contentsOfDirectory(atPath: deployment.folder.path("."))
            for (line, status, message) in [
                ("cameo-enqueue --store file data:,", 4, "file cannot be opened: Not a directory"),
                ("cameo-status --store file", 4, "file cannot be opened: Not a directory"),
                ("cameo-admin backup .", 2, "it already exists"),
                ("cameo-admin backup store/copy", 2, "inside the store itself"),
                ("cameo-admin retry --state running", 2, "--state running: such jobs cannot be available again"),
                ("cameo-admin cancel --state completed", 2, "--state completed: such jobs cannot be cancelled"),
                ("cameo-admin worker stop w1 w2", 1, "there is no worker w2"),
            ] as [(String, Int32, String)] {
                let result = try await deployment.command(line)
                #expect(result.exitStatus == status && result.outputText.isEmpty, "\(result.errorText)")
                #expect(result.errorText.contains(message), "\(result.errorText)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: deployment.folder.path(".")) == before)
                #expect(try await deployment.status().count(.available) == 1)
                let store: any Store = try SQLiteStore(reading: deployment.store)
                #expect(try await store.concurrencyLimits().isEmpty)
            }
        }

        @Test func toTakeAwayALimitThatIsNotThereSaysSo() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("photo.jpg")
            let arguments = ["limit", "--key", "shop", "--max-running", "none"]
            let none = try await deployment.command("cameo-admin", arguments)
            #expect((none.exitStatus, none.outputText) == (0, "key shop had no operator's limit\n"))
            _ = try await deployment.command("cameo-admin limit --key shop --max-running 2")
            let taken = try await deployment.command("cameo-admin", arguments)
            #expect(taken.outputText == "key shop runs without an operator's limit\n")
        }
    }
}
