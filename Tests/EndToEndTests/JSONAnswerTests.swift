import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The JSON output of `cameo-admin` and `cameo-status`: the changed objects after the change.
    @Suite(.timeLimit(.minutes(10)))
    struct JSONAnswerTests {
        private let deployment: Deployment

        init() throws {
            deployment = try Deployment()
        }

        private func admin(_ arguments: String..., exits status: Int32 = 0) async throws -> ProcessResult {
            let result = try await deployment.command("cameo-admin", arguments + ["--json"])
            #expect(result.exitStatus == status, "\(arguments): \(result.errorText)")
            return result
        }

        private func queue(_ arguments: String...) async throws -> StatusReport.Queue {
            let result = try await deployment.command("cameo-admin", arguments + ["--json"])
            try await expectValid("status-report#/$defs/queue", result.standardOutput)
            return try WireFormat.decode(StatusReport.Queue.self, from: result.standardOutput)
        }

        private func jobs(_ result: ProcessResult) async throws -> [Job] {
            try await expectValid("job", result.standardOutput)
            return try result.outputText.split(separator: "\n").map {
                try WireFormat.decode(Job.self, from: Data($0.utf8))
            }
        }

        @Test func aQueueIsShownAsItThenIs() async throws {
            _ = try await deployment.enqueue("a.jpg --queue imports")
            let paused = try await queue("pause", "imports")
            #expect((paused.name, paused.paused, paused.jobs[.available]) == ("imports", true, 1))
            #expect(try await queue("pause", "imports").paused, "it was already")
            #expect(try await !queue("resume", "imports").paused)
            let new = try await queue("pause", "exports", "--create")
            #expect((new.name, new.paused) == ("exports", true))
            #expect(try await queue("queue", "imports", "--max-running", "4").maxRunning == 4)
            #expect(try await queue("queue", "imports", "--max-running", "none").maxRunning == nil)
            #expect(try await queue("queue", "imports", "--rate", "60/60s").rate == "60/m")
            #expect(try await queue("queue", "imports", "--rate", "none").rate == nil)
            #expect(try await admin("pause", "none", exits: 1).outputText.isEmpty)
        }

        @Test func numberedJobsAreShownAsTheyThenAreOneALine() async throws {
            _ = try await deployment.enqueue("a.jpg b.jpg --metadata", #"{"row":7}"#)
            let snoozed = try await jobs(try await admin("snooze", "2", "1", "--for", "2030-01-31T12:00:00Z"))
            #expect(snoozed.map(\.id) == [2, 1] && snoozed.allSatisfy { $0.state == .scheduled })
            #expect(snoozed.allSatisfy { WireFormat.text(of: $0.availableAt) == "2030-01-31T12:00:00.000Z" })
            let cancelled = try await admin("cancel", "1", "99", exits: 1)
            #expect(try await jobs(cancelled).map(\.state) == [.cancelled])
            #expect(cancelled.errorText == "cameo-admin: there is no job 99\n")
            let late = try await jobs(try await admin("snooze", "1", "--for", "1h"))
            #expect(late.map(\.state) == [.cancelled], "it does not wait")
            // Another job is waiting for the same thumbnails.
            let duplicate = try #require(try await deployment.enqueue("a.jpg").first).jobID
            let retried = try await jobs(try await admin("retry", "1", "2"))
            #expect(retried.map(\.state) == [.cancelled, .available] && retried[0].supersededBy == duplicate)
            _ = try await admin("cancel", "\(duplicate)")
            let ended = try await deployment.command("cameo-status job 1 --wait --json")
            #expect(ended.exitStatus == 1)
            #expect(try await jobs(ended).map(\.id) == [duplicate], "whoever waits for the first waits for the other")
        }

        @Test func manyJobsAreCounted() async throws {
            _ = try await deployment.enqueue("a.jpg b.jpg --batch b")
            #expect(
                try await admin("cancel", "--batch", "b", "--limit", "1").outputText
                    == #"{"changed":1,"matched":1,"passed":0}"# + "\n"
            )
            #expect(
                try await admin("cancel", "--batch", "b", "--dry-run").outputText
                    == #"{"changed":0,"matched":1,"passed":0}"# + "\n"
            )
        }

        @Test func aLimitIsShownAsItThenIs() async throws {
            _ = try await deployment.enqueue("a.jpg --concurrency-key k --concurrency-limit 3")
            func limit(_ key: String, _ option: String...) async throws -> String {
                try await deployment.command("cameo-admin", ["limit", "--key", key] + option + ["--json"]).outputText
            }
            let set = #"{"isFixed":true,"key":"k","maxRunning":8,"running":0,"waiting":1}"# + "\n"
            #expect(try await limit("k", "--max-running", "8") == set)
            #expect(try await admin("limit").outputText == set)
            #expect(
                try await limit("k", "--max-running", "none")
                    == #"{"isFixed":false,"key":"k","maxRunning":8,"running":0,"waiting":1}"# + "\n"
            )
            #expect(
                try await limit("k", "--rate", "10/s")
                    == #"{"isFixed":false,"key":"k","maxRunning":8,"rate":"10/s","running":0,"waiting":1}"# + "\n"
            )
            #expect(
                try await limit("new", "--max-running", "none")
                    == #"{"isFixed":false,"key":"new","maxRunning":1,"running":0,"waiting":0}"# + "\n"
            )
        }

        @Test func aWorkerIsShownAsItWasAsked() async throws {
            _ = try await deployment.enqueue("a.jpg")
            let worker = try deployment.startWorker("--queues none")
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await !$0.status().workers.isEmpty }
            let stop = try await admin("worker", "stop", "--all", "--now", "--wait", "--wait-timeout", "5m")
            try await expectValid("status-report#/$defs/worker", stop.standardOutput)
            let asked = try WireFormat.decode(StatusReport.Worker.self, from: stop.standardOutput)
            #expect((asked.isAlive, asked.stopping, asked.running) == (true, .now, 0))
            #expect(await worker.ending == .exited(0))
            #expect(try await admin("worker", "stop", "--all").outputText.isEmpty, "there is none any more")
        }

        @Test func aSheetSaysWhereItIsAndWhatItLacks() async throws {
            _ = try await deployment.enqueue("a.jpg")
            let sheet = try await deployment.command("cameo-status sheet sheet.html 1 --json")
            let path = deployment.folder.path("sheet.html")
            let answer = try JSONValue(parsing: sheet.outputText)
            #expect(answer == .object(["file": .string(path), "unreadable": .array([])]), "\(sheet.outputText)")
        }
    }
}
