import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Many processes on one store at once.
    @Suite(.timeLimit(.minutes(10)))
    struct CrowdTests {
        private static let inserts = 25

        /// A program in another language: one statement per request, on its own connection.
        private func insert(_ deployment: Deployment, producer: Int) async throws -> ProcessResult {
            let lines = (0..<Self.inserts).map { index in
                let source = "file://\(deployment.pictures)/p.webp"
                let queue = index % 2 == 0 ? "even" : "odd"
                return "INSERT INTO job(request) VALUES ('{\"source\":\"\(source)\",\"queue\":\"\(queue)\","
                    + "\"renditions\":[{\"width\":\(20 + producer),\"height\":\(20 + index)}]}');"
            }
            let script = ".timeout 120000\nPRAGMA wal_autocheckpoint=0;\n\(lines.joined(separator: "\n"))\n"
            return try await run("sqlite3", ["-bail", "\(deployment.store)/cameo.sqlite"], input: Data(script.utf8))
        }

        @Test(.enabled(if: TestLength.isWhole, "--all"), arguments: [1, 4, 16])
        func workersAndProducersOfAnyKindShareAStore(workers: Int) async throws {
            let deployment = try Deployment()
            try deployment.add(try await Pictures.photo("webp"), as: "p.webp")
            let store: any Store = try SQLiteStore(at: deployment.store)
            let pool = try (0..<workers).map { _ in
                try deployment.startWorker("--concurrency 4 --render-concurrency 1")
            }
            defer { for worker in pool { worker.killGroup() } }
            let producers = try await withThrowingTaskGroup(of: ProcessResult.self) { group in
                for producer in 0..<4 { group.addTask { try await insert(deployment, producer: producer) } }
                for size in 0..<4 {
                    group.addTask {
                        try await deployment.command(
                            "cameo-enqueue pictures/p.webp pictures/p.webp --size \(60 + size)x"
                        )
                    }
                }
                for queue in ["even", "odd", "default"] {
                    group.addTask { try await deployment.command("cameo-admin", ["pause", queue, "--create"]) }
                    group.addTask { try await deployment.command("cameo-status --json") }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for result in producers { #expect(result.exitStatus == 0, "\(result.errorText)\(result.outputText)") }
            for queue in ["even", "odd", "default"] { _ = try await store.resume(queue) }
            try await deployment.waitUntil { try await $0.unfinishedJobs(queues: nil, background: .included) == 0 }

            try await deployment.command("cameo-admin worker stop --all --wait --wait-timeout 5m").succeeded()
            for worker in pool {
                #expect(await worker.ending == .exited(0))
                let log = String(decoding: worker.standardError, as: UTF8.self).replacing(
                    deployment.folder.url.path,
                    with: ""
                )
                #expect(!log.contains("lock") && !log.contains("busy") && !log.contains("error"), "\(log)")
            }
            let report = try await store.status()
            #expect(report.count(.completed) >= 4 * Self.inserts + 4)
            #expect(report.count(.discarded) + report.count(.available) + report.count(.running) == 0)
            #expect(try await deployment.sql("SELECT outcome FROM attempt GROUP BY 1;") == "completed")
            #expect(try await store.check(report: { _ in }).allSatisfy { $0.severity != .error })
        }

        /// Four busy workers when a newer version takes over the store: they end with a message that says so, and it
        /// finds every job, with no attempt counted.
        @Test(.enabled(if: TestLength.isWhole, "--all")) func aCrowdOfWorkersMakesWayForANewerVersion() async throws {
            let deployment = try Deployment()
            let store: any Store = try SQLiteStore(at: deployment.store)
            let receipts = try await deployment.enqueueDistinct(160, in: store)
            let own = try await deployment.sql("PRAGMA user_version;")
            let pool = try (0..<4).map { _ in
                try deployment.startWorker("--concurrency 4 --render-concurrency 1 --grace 0")
            }
            defer { for worker in pool { worker.killGroup() } }
            try await deployment.waitUntil { try await $0.status().count(.completed) > 0 }
            _ = try await deployment.sql("PRAGMA user_version=99;")
            for worker in pool {
                #expect(await worker.ending == .exited(4))
                let log = String(decoding: worker.standardError, as: UTF8.self)
                #expect(log.contains("made by a newer Cameo"), "\(log)")
                #expect(!log.contains("locked") && !log.contains("write lock"), "\(log)")
            }
            _ = try await deployment.sql("PRAGMA user_version=\(own);")
            let left = try await store.status()
            #expect(left.count(.running) == 0 && left.count(.available) > 0 && left.workers.isEmpty)
            #expect(try await deployment.drain().exitStatus == 0)
            try await deployment.expectCompletedOnce(receipts)
            let charged = "SELECT count(*) FROM outcome WHERE attempt <> 1 OR crash_count <> 0;"
            #expect(try await deployment.sql(charged) == "0")
        }
    }
}
