import CameoModel
import CameoReport
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The progress bar on a terminal that script(1) creates.
    @Suite(.timeLimit(.minutes(10)), .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script")))
    struct ProgressBarTests {
        private static let clear = "\r\u{1B}[K"

        private func terminal(_ columns: Int, _ command: String, _ deployment: Deployment) async throws -> String {
            let result = try await run(
                "/usr/bin/script",
                ["-qec", "stty cols \(columns) rows 24; \(command)", "/dev/null"],
                environment: ["CAMEO_STORE": deployment.store, "SHELL": "/bin/sh"],
                currentDirectory: deployment.folder.url
            )
            return result.outputText.replacing("\r\n", with: "\n")
        }

        @Test(arguments: TestLength.few([12, 30, 60, 200]))
        func itFitsAndLogLinesStandAlone(columns: Int) async throws {
            let deployment = try Deployment()
            for index in 0..<6 { _ = try await deployment.enqueue("initials:A\(index) --size 16x") }
            let worker = "'\(try Deployment.executable("cameo-worker"))' --drain --log-level info"
            let text = try await terminal(columns, worker, deployment)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
            var (bars, logs) = (0, 0)
            for line in lines {
                // The drawn and cleared parts of this line, and what remains of it.
                let parts = String(line).components(separatedBy: Self.clear)
                for bar in parts.dropLast() where !bar.isEmpty {
                    bars += 1
                    #expect(bar.count < columns && !bar.contains("\u{1B}"), "\(bar)")
                }
                guard let left = parts.last, left.contains(#/ info +[a-z]/#) else { continue }
                logs += 1
                #expect(left.contains(#/^[0-9:TZ. -]+ info /#), "\(left)")
                #expect(!left.contains("█") && !left.contains("·"), "\(left)")
            }
            #expect(bars > 0 && logs >= 8, "\(text)")
            #expect(text.contains("6/6"))
        }

        /// `batch` and the progress bar of a wait compute the same numbers.
        @Test func itsRestIsThatOfTheBatch() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("initials:AB --batch b --size 16x")
            _ = try await deployment.drain()
            for index in 0..<39 { _ = try await deployment.enqueue("initials:A\(index) --batch b --at 9d") }
            // Without one that runs there would be no estimate.
            let origin = try await Origin.start()
            _ = try await deployment.enqueue(origin.url("/never"), "--batch", "b", "--size", "16x")
            let worker = try deployment.startWorker("--allow-network 127.0.0.0/8")
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await $0.batch("b").count(.running) == 1 }
            let command = "'\(try Deployment.executable("cameo-status"))' batch b"
            let waiting = "\(command) --wait --wait-timeout 1ms"
            func left() async throws -> Double {
                let answer = try await deployment.command("cameo-status batch b --json")
                return try #require(
                    try WireFormat.decode(BatchReport.self, from: Data(answer.outputText.utf8)).secondsLeft
                )
            }
            // Nothing more ends, so the time left grows while the commands run.
            let before = try await left()
            let texts = [try await terminal(200, command, deployment), try await terminal(200, waiting, deployment)]
            let after = try await left()
            let told = Set(stride(from: before, to: after + 0.05, by: 0.05).map(AmountText.duration))
            for text in texts {
                let rest = try #require(text.firstMatch(of: #/about ([0-9.]+ [a-z]+) left/#)?.output.1, "\(text)")
                #expect(told.contains(String(rest)), "\(text): not \(before) to \(after) s")
            }
            #expect(texts[1].contains("1/41, "), "\(texts[1])")
        }
    }
}
