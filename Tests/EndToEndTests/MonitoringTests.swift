import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `cameo-status metrics`, `health` and `events`, as monitoring uses them.
    @Suite(.timeLimit(.minutes(10)))
    struct MonitoringTests {
        private let deployment: Deployment

        init() async throws {
            deployment = try await Deployment.withPhoto()
        }

        /// The samples by name and labels.
        private func samples(_ text: String) -> [String: Double] {
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            return Dictionary(
                uniqueKeysWithValues: lines.compactMap { line in
                    let parts = line.split(separator: " ")
                    return parts.count == 2 ? Double(parts[1]).map { (String(parts[0]), $0) } : nil
                }
            )
        }

        private func metrics() async throws -> [String: Double] {
            let result = try await deployment.command("cameo-status metrics").succeeded()
            return samples(result.outputText)
        }

        @Test func whatWorkersDidIsCounted() async throws {
            _ = try await deployment.enqueue("pictures/photo.jpg --size 40x --size 20x")
            _ = try await deployment.enqueue("pictures/missing.jpg")
            #expect(try await deployment.drain().exitStatus == 1)
            let first = try await metrics()
            #expect(first["cameo_jobs_ended_total{queue=\"default\",outcome=\"completed\"}"] == 1)
            #expect(first["cameo_jobs_ended_total{queue=\"default\",outcome=\"discarded\"}"] == 1)
            #expect(first["cameo_failures_total{code=\"source.notFound\",outcome=\"discarded\"}"] == 1)
            #expect(first["cameo_attempts_total{outcome=\"completed\"}"] == 1)
            #expect(first["cameo_sources_total{from=\"fetched\"}"] == 1)
            #expect(first["cameo_thumbnails_made_total"] == 2)
            #expect(try #require(first["cameo_thumbnails_made_bytes_total"]) > 100)
            #expect(try #require(first["cameo_renderers_started_total"]) >= 1)
            for (stage, count) in [("wait", 2), ("fetch", 2), ("queue", 1), ("render", 1), ("store", 1)] {
                #expect(first["cameo_stage_duration_seconds_count{stage=\"\(stage)\"}"] == Double(count), "\(stage)")
            }
            try await deployment.command("cameo-admin prune --keep completed=0,discarded=0").succeeded()
            _ = try await deployment.enqueue("pictures/photo.jpg --size 30x")
            #expect(try await deployment.drain().exitStatus == 0)
            let second = try await metrics()
            #expect(second["cameo_jobs_ended_total{queue=\"default\",outcome=\"completed\"}"] == 2)
            for (name, value) in first where name.contains("_total") || name.contains("_seconds_") {
                #expect(second[name] ?? -1 >= value, "\(name) went back")
            }
        }

        /// Even a queue whose name is a number has a name.
        @Test func aJSONLogHasNumbersAsNumbers() async throws {
            _ = try await deployment.enqueue("pictures/photo.jpg --queue 7")
            let result = try await deployment.drain("--log-format json")
            let lines = try result.errorText.split(separator: "\n").filter { $0.hasPrefix("{") }
                .compactMap { line -> [String: JSONValue]? in
                    guard case .object(let members) = try JSONValue(parsing: String(line)) else { return nil }
                    return members
                }
            let line = try #require(lines.first { $0["message"] == .string("completed") })
            #expect(line["job"] == .integer(1) && line["attempt"] == .integer(1) && line["queue"] == .string("7"))
            for name in [
                "throttled_ms", "fetch_ms", "queue_ms", "render_ms", "store_ms", "source_bytes", "output_bytes",
                "cpu_ms",
            ] {
                guard case .integer? = line[name] else {
                    Issue.record("\(name) is no number in \(line)")
                    continue
                }
            }
        }

        @Test func aKilledWorkerTakesNothingBack() async throws {
            let environment: [String: String?] = ["CAMEO_TEST_LEASE_MS": "3000"]
            let worker = try deployment.startWorker([], environment: environment)
            defer { worker.killGroup() }
            _ = try await deployment.enqueue("pictures/photo.jpg --size 40x")
            try await deployment.waitUntil { try await $0.metrics().counters[.thumbnails] == 1 }
            worker.killGroup()
            _ = await worker.ending
            _ = try await deployment.enqueue("pictures/photo.jpg --size 30x")
            #expect(try await deployment.drain().exitStatus == 0)
            #expect(try await metrics()["cameo_thumbnails_made_total"] == 2)
        }

        @Test func aFileIsReplacedAtOnce() async throws {
            _ = try await deployment.enqueue("data:,x")
            let file = deployment.folder.path("cameo.prom")
            for _ in 0..<2 {
                let result = try await deployment.command("cameo-status", ["metrics", "--output", file])
                #expect(result.exitStatus == 0 && result.outputText.isEmpty, "\(result.errorText)")
            }
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(samples(text)["cameo_jobs{queue=\"default\",state=\"available\"}"] == 1)
            let left = try FileManager.default.contentsOfDirectory(atPath: deployment.folder.url.path)
            #expect(left.filter { $0.hasPrefix("cameo.prom") } == ["cameo.prom"])
            let inside = try await deployment.command("cameo-status metrics --output store/cameo.sqlite")
            #expect(inside.exitStatus == 1 && inside.errorText.contains("it belongs to the store"))
        }

        // MARK: - Health

        private func health(_ arguments: String...) async throws -> (isHealthy: Bool, lines: [String]) {
            let result = try await deployment.command("cameo-status health", arguments)
            try #require([0, 1].contains(result.exitStatus), "\(result.errorText)")
            let json = try await deployment.command("cameo-status health --json", arguments)
            let report = try WireFormat.decode(HealthReport.self, from: Data(json.outputText.utf8))
            #expect(json.exitStatus == result.exitStatus && report.isHealthy == (result.exitStatus == 0))
            return (report.isHealthy, result.outputText.split(separator: "\n").map(String.init))
        }

        @Test func aStoreNeedsItsWorkers() async throws {
            _ = try await deployment.enqueue("data:,x")
            #expect(try await health() == (false, ["failed\tworkers\t0 workers alive, at least 1 wanted"]))
            #expect(try await health("--workers", "0").isHealthy)
            let worker = try deployment.startWorker("--frames /bin/true")
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await $0.status().workers.contains(where: \.isAlive) }
            #expect(try await health() == (true, ["ok\tworkers\t1 worker alive, at least 1 wanted"]))
            #expect(try await !health("--workers", "2").isHealthy)
            worker.killGroup()
            _ = await worker.ending
            #expect(try await !health().isHealthy)
        }

        /// Jobs go on, so it is named and healthy.
        @Test func whatCannotBeRemovedIsNamed() async throws {
            let worker = try deployment.startWorker()
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await $0.status().workers.contains(where: \.isAlive) }
            let trouble = #"{"reason":"the bucket denies it","since":"2026-01-02T03:04:05Z","blocksJobs":false}"#
            _ = try await deployment.sql("UPDATE worker SET trouble = '\(trouble)';")
            let (isHealthy, lines) = try await health()
            let remark = "cannot remove what has expired since 2026-01-02T03:04:05.000Z: the bucket denies it"
            #expect(isHealthy && lines.first?.hasSuffix(" \(remark)") == true, "\(lines)")
        }

        @Test func aJobMayWaitForSoLong() async throws {
            _ = try await deployment.enqueue("data:,x --queue slow")
            let none = ["--workers", "0", "--max-lag"]
            #expect(try await health(none[0], none[1], none[2], "1h").isHealthy)
            let late = try await health(none[0], none[1], none[2], "0")
            #expect(!late.isHealthy && late.lines[1].hasPrefix("failed\tlag\ta job of the queue slow has waited"))
            _ = try await deployment.command("cameo-admin pause slow")
            let paused = try await health(none[0], none[1], none[2], "0")
            let waiting = "ok\tlag\tno job waits but in paused and background queues, at most 0 ms allowed"
            #expect(paused.isHealthy && paused.lines[1] == waiting)
        }

        // MARK: - Events

        private func events(_ arguments: String...) async throws -> [JobChange] {
            let result = try await deployment.command("cameo-status events", arguments)
            #expect(result.exitStatus == 0 && result.errorText.isEmpty, "\(result.errorText)")
            return try Self.changes(Data(result.outputText.utf8))
        }

        private static func changes(_ output: Data) throws -> [JobChange] {
            // The last line may be half written.
            try output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast().map {
                try WireFormat.decode(JobChange.self, from: Data($0))
            }
        }

        @Test func everyChangeIsToldOnceInItsOrder() async throws {
            let jobs = try await deployment.enqueue(["pictures/photo.jpg", "pictures/none.jpg", "--max-attempts", "1"])
                .map { try $0.jobID }
            #expect(try await deployment.drain().exitStatus == 1)
            let all = try await events()
            try #require(all.map(\.cursor) == [1, 2, 3, 4, 5, 6])
            let states = jobs.map { job in all.filter { $0.job == job }.map(\.state) }
            #expect(states == [[.available, .running, .completed], [.available, .running, .discarded]])
            #expect(try await events("--since", "\(all[2].cursor)") == Array(all.dropFirst(3)))
            #expect(try await events("--since", "\(all.count)").isEmpty)
            #expect(try await events("--state", "discarded", "--state", "completed").count == 2)
        }

        @Test func aReaderThatFollowsSeesWhatComes() async throws {
            _ = try await deployment.enqueue("pictures/photo.jpg")
            let follow = try ChildProcess(
                try Deployment.executable("cameo-status"),
                ["events", "--follow", "--since", "0"],
                environment: ["CAMEO_STORE": deployment.store]
            )
            defer { follow.killGroup() }
            #expect(try await deployment.drain().exitStatus == 0)
            let expected = try await events()
            try await eventually("the reader has seen what came") {
                follow.standardOutput.count { $0 == UInt8(ascii: "\n") } >= expected.count
            }
            #expect(try Self.changes(follow.standardOutput) == expected)
        }

        @Test func whatIsNoLongerKeptIsNamed() async throws {
            _ = try await deployment.enqueue("data:,no%20picture --max-attempts 1")
            _ = try await deployment.drain()
            _ = try await deployment.sql("DELETE FROM change WHERE seq < 3;")
            let result = try await deployment.command("cameo-status events --since 1")
            #expect(result.exitStatus == 0 && result.outputText.split(separator: "\n").count == 1)
            #expect(result.errorText.contains("the changes 2 to 2 are no longer kept"), "\(result.errorText)")
        }
    }
}
