import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `cameo-status health`, as a monitor asks.
    @Suite(.timeLimit(.minutes(10)))
    struct HealthTests {
        private let deployment: Deployment

        init() throws { deployment = try Deployment() }

        private func health(_ arguments: String...) async throws -> (isHealthy: Bool, lines: [String]) {
            let result = try await deployment.command("cameo-status", ["health"] + arguments)
            try #require([0, 1].contains(result.exitStatus), "\(result.errorText)")
            let json = try await deployment.command("cameo-status", ["health", "--json"] + arguments)
            let report = try WireFormat.decode(HealthReport.self, from: Data(json.outputText.utf8))
            #expect(json.exitStatus == result.exitStatus && report.isHealthy == (result.exitStatus == 0))
            return (report.isHealthy, result.outputText.split(separator: "\n").map(String.init))
        }

        @Test func aStoreNeedsItsWorkers() async throws {
            _ = try await deployment.enqueue("data:,x")
            #expect(try await health() == (false, ["failed\tworkers\t0 workers alive, at least 1 wanted"]))
            #expect(try await health("--workers", "0").isHealthy)
            let worker = try deployment.startWorker()
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
            _ = try await deployment.enqueue("data:,x", "--queue", "slow")
            let none = ["--workers", "0", "--max-lag"]
            #expect(try await health(none[0], none[1], none[2], "1h").isHealthy)
            let late = try await health(none[0], none[1], none[2], "0")
            #expect(!late.isHealthy && late.lines[1].hasPrefix("failed\tlag\ta job of the queue slow has waited"))
            _ = try await deployment.command("cameo-admin", ["pause", "slow"])
            let paused = try await health(none[0], none[1], none[2], "0")
            let waiting = "ok\tlag\tno job waits but in paused and background queues, at most 0 ms allowed"
            #expect(paused.isHealthy && paused.lines[1] == waiting)
            #expect(try await deployment.command("cameo-status", ["health", "--workers", "-1"]).exitStatus == 2)
        }
    }
}
