import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Hooks, with a receiver that is a real server or a real command.
    @Suite(.timeLimit(.minutes(10)))
    struct HookTests {
        private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        private let deployment: Deployment
        private let file: String

        init() throws {
            deployment = try Deployment()
            file = deployment.folder.path("hooks.json")
        }

        private func configure(_ hooks: String) throws {
            try Data(#"{"hooks":{\#(hooks)}}"#.utf8).write(to: URL(filePath: file))
        }

        private func post(to url: String, _ more: String = "") -> String {
            #""site":{"url":"\#(url)","secret":"\#(Self.secret)","timeout":300,"retry":{"base":0.1,"cap":0.2}\#(more)}"#
        }

        /// Enqueues letter avatars, which need no file and no server.
        @discardableResult
        private func enqueue(_ count: Int = 1, hook: String = "site", _ arguments: String...) async throws
            -> [EnqueueReceipt]
        {
            let sources = (0..<count).map { "initials:Picture%20\($0)" }
            return try await deployment.enqueue(sources + ["--size", "16x16", "--hook", hook] + arguments)
        }

        private func drain() async throws {
            try await deployment.drain("--hooks", file).succeeded()
        }

        private func reports() async throws -> [HookReport] {
            let result = try await deployment.command("cameo-status hooks --json")
            let reports = try result.outputText.split(separator: "\n").map {
                try WireFormat.decode(HookReport.self, from: Data($0.utf8))
            }
            if !reports.isEmpty { try await expectValid("hook-report", result.standardOutput) }
            #expect(result.exitStatus == (reports.contains { $0.failed > 0 } ? 1 : 0), "\(result.errorText)")
            return reports
        }

        private func waitUntilDelivered(_ count: Int) async throws {
            try await deployment.waitUntil { store in
                try await store.hooks(failures: 0).reduce(0) { $0 + $1.delivered } == count
            }
        }

        private func messages(_ requests: [[String: String]]) throws -> [HookDelivery] {
            try requests.map { try WireFormat.decode(HookDelivery.self, from: Data(($0[":body"] ?? "").utf8)) }
        }

        // MARK: - Over HTTP

        @Test func theEndOfAJobIsPostedAndSigned() async throws {
            let origin = try await Origin.start()
            try await origin.script("/scripted/hook", ScriptedAnswer(204))
            try configure(post(to: origin.url("/scripted/hook?from=cameo", host: "user:word@127.0.0.1")))
            let receipt = try await enqueue(1, "--batch", "b", "--metadata", #"{"user":7}"#)[0]
            let job = try receipt.jobID
            try await drain()
            let requests = try await origin.requests(of: "/scripted/hook")
            #expect(requests.count == 1)
            let request = try #require(requests.first)
            #expect(request[":method"] == "POST" && request["content-type"] == "application/json")
            #expect(request["authorization"] == "Basic \(Data("user:word".utf8).base64EncodedString())")
            let body = try #require(request[":body"])
            try await expectValid("hook-delivery", Data(body.utf8))
            let message = try messages(requests)[0]
            #expect((message.job, message.state, message.hook) == (job, .completed, "site"))
            #expect((message.batch, message.metadata) == ("b", ["user": 7]))
            #expect(message.thumbnails.map(\.uri) == receipt.thumbnails.map(\.uri))
            #expect(message.thumbnails.allSatisfy { $0.width == 16 })
            #expect(message.id == request["webhook-id"])
            // As a receiver does it, in another language.
            let verify = """
                import base64, hashlib, hmac, json, sys
                headers = json.load(sys.stdin)
                signed = ".".join([headers["webhook-id"], headers["webhook-timestamp"], headers[":body"]]).encode()
                key = base64.b64decode("\(Self.secret)".removeprefix("whsec_"))
                expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
                sys.exit(expected not in headers["webhook-signature"].split(" "))
                """
            let input = try JSONEncoder().encode(request)
            #expect(try await run("/usr/bin/python3", ["-c", verify], input: input).exitStatus == 0)
            #expect(try await reports().map(\.delivered) == [1])
        }

        @Test func aFailingReceiverIsRetriedWithTheSameIDAndGivenUpInTheEnd() async throws {
            let origin = try await Origin.start()
            let away = ScriptedAnswer(302, ["Location: \(origin.url("/scripted/other"))"])
            try await origin.script("/scripted/hook", ScriptedAnswer(500), .hangup, away)
            try configure(post(to: origin.url("/scripted/hook"), #","maxAge":5"#))
            _ = try await enqueue()
            let worker = try deployment.startWorker("--hooks", file)
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await $0.hooks(failures: 0).contains { $0.failed == 1 } }
            let report = try await reports()[0]
            let failure = try #require(report.failures.first)
            #expect(failure.reason == "the server answered 302; redirects are not followed" && failure.tries >= 3)
            #expect(report.isKnown && report.delivered == 0)
            let text = try await deployment.command("cameo-status hooks")
            #expect(text.exitStatus == 1)
            #expect(text.outputText.contains("0 waiting, 0 delivered, 1 failed"), "\(text.outputText)")
            #expect(text.outputText.contains(failure.id))

            try await origin.script("/scripted/hook", ScriptedAnswer(200, body: "thanks"))
            let none = try await deployment.command("cameo-admin hooks retry none")
            #expect(none.exitStatus == 1)
            let retry = try await deployment.command("cameo-admin", ["hooks", "retry", failure.id, "--json"])
            #expect(retry.exitStatus == 0 && retry.outputText == #"{"retried":1}"# + "\n")
            try await waitUntilDelivered(1)
            let requests = try await origin.requests(of: "/scripted/hook")
            #expect(Set(requests.map { $0["webhook-id"] }) == [failure.id])
            #expect(try await origin.counts().requests["/scripted/other"] == nil)
        }

        @Test func aSlowReceiverHoldsUpNeitherJobsNorTheEnd() async throws {
            let origin = try await Origin.start()
            var held = ScriptedAnswer(200)
            held.held = true
            try await origin.script("/scripted/hook", held)
            try configure(post(to: origin.url("/scripted/hook"), #","concurrency":2"#))
            let worker = try deployment.startWorker("--hooks", file, "--grace", "1s", "--concurrency", "2")
            defer { worker.killGroup() }
            _ = try await enqueue(9)
            try await deployment.waitUntil { try await $0.status().count(.completed) == 9 }
            try await origin.awaitArrivals(of: "/scripted/hook", count: 2)
            let report = try await reports()[0]
            #expect((report.waiting, report.running, report.delivered) == (7, 2, 0))
            #expect(await worker.stop() == .exited(0))
            #expect(try await reports().map(\.waiting) == [9], "given back")
            try await origin.release()
            try await drain()
            #expect(try await reports().map(\.delivered) == [9])
        }

        /// 500 completions and 10 kills at full length.
        @Test func everyEndIsDeliveredWhoeverFailsOrDies() async throws {
            let (jobs, kills) = (TestLength.rounds(60, full: 500), TestLength.rounds(3, full: 10))
            let origin = try await Origin.start()
            var random = SystemRandomNumberGenerator()
            let answers = (0..<(jobs * 2)).map { _ -> ScriptedAnswer in
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<2: ScriptedAnswer(500)
                case 2: ScriptedAnswer(429)
                case 3: .hangup
                default: ScriptedAnswer(200)
                }
            }
            try await origin.script("/scripted/hook", answers + [ScriptedAnswer(200)])
            try configure(post(to: origin.url("/scripted/hook")))
            #expect(try await enqueue(jobs).count == jobs)
            for kill in 1...kills {
                let worker = try deployment.startWorker("--hooks", file, "--log-level", "error")
                defer { worker.killGroup() }
                try await origin.awaitArrivals(of: "/scripted/hook", count: kill * jobs / (kills + 1))
                worker.killGroup()
                _ = await worker.ending
            }
            let worker = try deployment.startWorker("--hooks", file, "--log-level", "error")
            defer { worker.killGroup() }
            try await waitUntilDelivered(jobs)
            #expect(await worker.stop() == .exited(0))

            let requests = try await origin.requests(of: "/scripted/hook")
            let delivered = zip(requests, answers.map(\.status) + Array(repeating: 200, count: requests.count))
                .filter { $0.1 == 200 }.map(\.0)
            let ids = Dictionary(grouping: try messages(requests), by: \.job).mapValues { Set($0.map(\.id)) }
            #expect(ids.count == jobs && ids.values.allSatisfy { $0.count == 1 }, "duplicates have the same id")
            #expect(Set(ids.values.compactMap(\.first)).count == jobs)
            #expect(Set(try messages(delivered).map(\.job)) == Set(ids.keys))
            let report = try await reports()
            #expect(report.map(\.delivered) == [jobs] && report.map(\.waiting) == [0])
            try await deployment.command("cameo-admin check").succeeded()
        }

        // MARK: - By command

        @Test func aCommandGetsTheMessageOnItsInput() async throws {
            let output = deployment.folder.path("told")
            try configure(#""site":{"command":["/usr/bin/tee","-a","\#(output)"]}"#)
            _ = try await enqueue(2)
            try await deployment.enqueue("data:,none --hook site").forEach { _ in }
            let result = try await deployment.drain("--hooks", file)
            #expect(result.exitStatus == 1, "a job was discarded")
            let told = try String(contentsOfFile: output, encoding: .utf8).replacing("}{", with: "}\n{")
            try await expectValid("hook-delivery", Data(told.utf8))
            let messages = try told.split(separator: "\n").map {
                try WireFormat.decode(HookDelivery.self, from: Data($0.utf8))
            }
            #expect(messages.map(\.job).sorted() == [1, 2, 3])
            let discarded = try #require(messages.first { $0.job == 3 })
            #expect(discarded.state == .discarded && discarded.failure != nil && discarded.source == nil)
        }

        @Test func aRequestThatSQLInsertedIsToldOfEvenIfItIsRefused() async throws {
            let output = deployment.folder.path("told")
            try configure(#""site":{"command":["/usr/bin/tee","-a","\#(output)"]}"#)
            _ = try await deployment.command("cameo-admin check")
            _ = try await deployment.enqueue("initials:A")
            let renditions = #""renditions":[{"width":16,"height":16}]"#
            _ = try await deployment.sql(
                """
                INSERT INTO job(request) VALUES ('{"source":"initials:B",\(renditions),"hook":"site"}'),
                  ('{"source":"initials:C",\(renditions),"hook":"site","queue":"NO"}'),
                  ('{"source":"initials:D",\(renditions),"hook":"/bin/sh"}');
                """
            )
            _ = try await deployment.drain("--hooks", file)
            let told = try String(contentsOfFile: output, encoding: .utf8).replacing("}{", with: "}\n{")
            let messages = try told.split(separator: "\n").map {
                try WireFormat.decode(HookDelivery.self, from: Data($0.utf8))
            }
            #expect(messages.map(\.job).sorted() == [2, 3])
            #expect(messages.first { $0.job == 3 }?.failure?.code == .requestInvalid)
            #expect(try await reports().map(\.name) == ["site"])
        }

        // MARK: - Batches

        /// However often workers are killed.
        @Test func theEndOfABatchIsToldOnce() async throws {
            let output = deployment.folder.path("told")
            try configure(#""site":{"command":["/usr/bin/tee","-a","\#(output)"]}"#)
            let jobs = 60
            let sources = (0..<jobs).map { "initials:Picture%20\($0)" }
            let batch = ["--size", "16x16", "--batch", "album", "--batch-hook", "site"]
            _ = try await deployment.enqueue(sources + batch)
            for kill in 1...3 {
                let worker = try deployment.startWorker("--hooks", file, "--log-level", "error")
                defer { worker.killGroup() }
                try await deployment.waitUntil { store in
                    try await store.batch("album").count(.completed) >= kill * jobs / 4
                }
            }
            try await drain()
            let told = try String(contentsOfFile: output, encoding: .utf8).replacing("}{", with: "}\n{")
            try await expectValid("batch-end", Data(told.utf8))
            let ends = try told.split(separator: "\n").map {
                try WireFormat.decode(BatchEnd.self, from: Data($0.utf8))
            }
            #expect(Set(ends.map(\.id)).count == 1 && ends[0].number == 1)
            #expect(ends[0].jobs[.completed] == jobs && ends[0].thumbnails == jobs && ends[0].bytes > jobs)
            let shown = try await deployment.command("cameo-status batch album").outputText
            #expect(shown.contains(#/ended [-0-9T:.]+Z \(end 1\), for the hook site/#), "\(shown)")
            #expect(try await reports().map(\.delivered) == [1])

            let alone = try await deployment.command("cameo-enqueue initials:A --batch-hook site")
            #expect(alone.exitStatus == 2 && alone.errorText.contains("--batch-hook needs --batch"))
            let wrong = try await deployment.command("cameo-enqueue initials:A --batch b", ["--batch-hook", "No hook"])
            #expect(wrong.exitStatus == 2 && wrong.errorText.contains("--batch-hook: must be 1 to 64"))
        }

        // MARK: - Configuration

        @Test func anUnknownNameWaitsUntilAWorkerLearnsIt() async throws {
            let output = deployment.folder.path("told")
            try configure(#""other":{"command":["/bin/true"]}"#)
            let worker = try deployment.startWorker("--hooks", file)
            defer { worker.killGroup() }
            func awaitLog(_ words: String) async throws {
                try await eventually("the worker says \(words)") {
                    String(decoding: worker.standardError, as: UTF8.self).contains(words)
                }
            }
            _ = try await enqueue()
            try await deployment.waitUntil { store in
                let hooks = try await store.hooks(failures: 0)
                return hooks.map(\.name) == ["other", "site"] && hooks[0].isKnown && hooks[1].waiting == 1
            }
            #expect(try await reports().map(\.isKnown) == [true, false])
            let shown = try await deployment.command("cameo-status hooks")
            #expect(shown.outputText.contains("no live worker knows this hook"))
            try configure(#""site":{"url":"https://a.example/","secret":"hush"}"#)
            worker.sendGroup(SIGHUP)
            try await awaitLog("hooks.site.secret: must be whsec_")
            #expect(!String(decoding: worker.standardError, as: UTF8.self).contains("hush"))
            try configure(#""site":{"command":["/usr/bin/tee","-a","\#(output)"]}"#)
            worker.sendGroup(SIGHUP)
            try await waitUntilDelivered(1)
            #expect(try await reports().map(\.name) == ["site"], "and no longer the other")
            #expect(await worker.stop() == .exited(0))
        }

        @Test(arguments: [
            (#""site":{"command":["true"]}"#, "hooks.site.command: must be the absolute path"),
            (
                #""site":{"url":"https://a b:x/","secret":"\#(secret)"}"#,
                "hooks.site.url: is not an http: or https: URL"
            ),
            (
                #""site":{"url":"https://a/","secretFile":"/nowhere"}"#,
                "hooks.site.secretFile: /nowhere: cannot be read"
            ),
        ])
        func aMistakeInTheFileIsNamed(hooks: String, message: String) async throws {
            try configure(hooks)
            let result = try await deployment.drain("--hooks", file)
            #expect(result.exitStatus == 2 && result.errorText.contains(message), "\(result.errorText)")
        }

        @Test func aQueueMayHaveAHook() async throws {
            let output = deployment.folder.path("told")
            try configure(#""site":{"command":["/usr/bin/tee","-a","\#(output)"]}"#)
            _ = try await deployment.enqueue("initials:B")
            let creation = ["queue", "uploads", "--hook", "site", "--create", "--json"]
            let set = try await deployment.command("cameo-admin", creation)
            try await expectValid("status-report#/$defs/queue", set.standardOutput)
            _ = try await deployment.enqueue("initials:A --queue uploads")
            try await drain()
            let told = try String(contentsOfFile: output, encoding: .utf8)
            #expect(try WireFormat.decode(HookDelivery.self, from: Data(told.utf8)).queue == "uploads")
            let list = try await deployment.command("cameo-admin queue uploads --hook none")
            #expect(list.exitStatus == 0 && !list.outputText.contains("site"))
            let bad = try await deployment.command("cameo-admin queue uploads --hook https://a/")
            #expect(bad.exitStatus == 2)
        }
    }
}
