import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `cameo-status metrics`, as monitoring uses it.
    @Suite(.timeLimit(.minutes(10)))
    struct MetricsTests {
        private let deployment: Deployment

        init() async throws {
            deployment = try Deployment()
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
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
            let result = try await deployment.command("cameo-status", ["metrics"])
            #expect(result.exitStatus == 0, "\(result.errorText)")
            return samples(result.outputText)
        }

        @Test func whatWorkersDidIsCounted() async throws {
            _ = try await deployment.enqueue("pictures/photo.jpg", "--size", "40x", "--size", "20x")
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
            let pruned = try await deployment.command(
                "cameo-admin",
                ["prune", "--keep-completed", "0", "--keep-discarded", "0"]
            )
            #expect(pruned.exitStatus == 0, "\(pruned.errorText)")
            _ = try await deployment.enqueue("pictures/photo.jpg", "--size", "30x")
            #expect(try await deployment.drain().exitStatus == 0)
            let second = try await metrics()
            #expect(second["cameo_jobs_ended_total{queue=\"default\",outcome=\"completed\"}"] == 2)
            for (name, value) in first where name.contains("_total") || name.contains("_seconds_") {
                #expect(second[name] ?? -1 >= value, "\(name) went back")
            }
        }

        /// Even a queue whose name is a number has a name.
        @Test func aJSONLogHasNumbersAsNumbers() async throws {
            _ = try await deployment.enqueue("pictures/photo.jpg", "--queue", "7")
            let result = try await deployment.drain("--log-format", "json")
            let lines = try result.errorText.split(separator: "\n").filter { $0.hasPrefix("{") }
                .compactMap { line -> [String: JSONValue]? in
                    guard case .object(let members) = try JSONValue(parsing: String(line)) else { return nil }
                    return members
                }
            let line = try #require(lines.first { $0["message"] == .string("completed") })
            #expect(line["job"] == .integer(1) && line["attempt"] == .integer(1) && line["queue"] == .string("7"))
            for name in [
                "throttled_ms", "fetch_ms", "queue_ms", "render_ms", "store_ms", "source_bytes", "output_bytes",
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
            _ = try await deployment.enqueue("pictures/photo.jpg", "--size", "40x")
            try await deployment.waitUntil { try await $0.metrics().counters[.thumbnails] == 1 }
            worker.killGroup()
            _ = await worker.ending
            _ = try await deployment.enqueue("pictures/photo.jpg", "--size", "30x")
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
            let inside = try await deployment.command("cameo-status", ["metrics", "--output", "store/cameo.sqlite"])
            #expect(inside.exitStatus == 1 && inside.errorText.contains("it belongs to the store"))
        }
    }
}
