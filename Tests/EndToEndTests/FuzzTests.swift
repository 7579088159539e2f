import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// A short run of `deploy/fuzz`, always of the same inputs.
    @Suite(.timeLimit(.minutes(10)))
    struct FuzzTests {
        @Test(.enabled(if: TestLength.isWhole, "--all"), arguments: Deployment.servesVideos ? [[], ["--video"]] : [[]])
        func damagedSourcesEndNoWorkerAndFailByName(options: [String]) async throws {
            let folder = try TemporaryFolder()
            let commands = URL(filePath: try Deployment.executable("cameo-worker")).deletingLastPathComponent().path
            let inputs = "\(TestLength.rounds(50, full: 2_000))"
            let result = try await run(
                Repository.file("deploy/fuzz").path,
                ["30", "--inputs", inputs, "--seed", "1", "--json", "--bin", commands, "--keep", folder.path] + options,
                timeout: .seconds(500)
            )
            #expect(result.exitStatus == 0, "\(result.outputText)\(result.errorText)")
            let report = try #require(
                try JSONSerialization.jsonObject(with: result.standardOutput) as? [String: Any],
                "\(result.errorText)"
            )
            #expect(report["workerDeaths"] as? Int == 0 && report["unfinished"] as? Int == 0)
            #expect((report["unnamedFailures"] as? [String])?.isEmpty == true)
            #expect(report["inputs"] as? Int == Int(inputs))
            let outcomes = report["outcomes"] as? [String: Int]
            #expect(outcomes?["completed", default: 0] ?? 0 > 10, "\(result.outputText)")
        }

        @Test func aFlippedBitOfAStoreEndsNoCommand() async throws {
            let folder = try TemporaryFolder()
            let commands = URL(filePath: try Deployment.executable("cameo-worker")).deletingLastPathComponent().path
            let rounds = "\(TestLength.rounds(TestLength.isWhole ? 6 : 3, full: 2_000))"
            let result = try await run(
                Repository.file("deploy/fuzz").path,
                ["store", "--inputs", rounds, "--seed", "1", "--json", "--bin", commands, "--keep", folder.path],
                timeout: .seconds(500)
            )
            #expect(result.exitStatus == 0, "\(result.outputText)\(result.errorText)")
            #expect(result.outputText.contains("\"rounds\": \(rounds)"))
        }
    }
}
