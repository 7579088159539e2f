import CameoModel
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Every option that takes a duration reads a plain number of seconds and a number with a unit.
    @Suite(.timeLimit(.minutes(10)))
    struct TimeOptionTests {
        /// Options that one command line takes together.
        struct Line: Sendable, CustomTestStringConvertible {
            let words: [String]
            let arguments: [String]
            let options: [String]

            init(_ words: String..., with arguments: [String] = [], takes options: [String]) {
                (self.words, self.arguments, self.options) = (words, arguments, options)
            }

            var testDescription: String { words.joined(separator: " ") }

            /// Runs on a store that cannot exist: a valid option ends with 4, an invalid one with 2.
            func run(_ deployment: Deployment, _ more: [String], _ environment: [String: String] = [:]) async throws
                -> ProcessResult
            {
                let store = "/proc/none/store"
                return try await deployment.command(
                    words[0],
                    Array(words.dropFirst()) + arguments + ["--store", store] + more,
                    environment: environment
                )
            }
        }

        private static let keep = ["--keep-completed", "--keep-cancelled", "--keep-discarded", "--keep-thumbnails"]

        private static let lines = [
            Line(
                "cameo-enqueue",
                with: ["data:,", "--wait", "--size", "9x", "--storyboard", "2x2"],
                takes: ["--in", "--interval", "--retry-base", "--retry-cap", "--timeout", "--wait-timeout"]
            ),
            Line("cameo-status", "job", with: ["1", "--wait"], takes: ["--wait-timeout"]),
            Line("cameo-status", "batch", with: ["b", "--wait"], takes: ["--wait-timeout"]),
            Line("cameo-status", "health", takes: ["--max-lag"]),
            Line("cameo-admin", "snooze", with: ["1"], takes: ["--for"]),
            Line("cameo-admin", "worker", "stop", with: ["--all", "--wait"], takes: ["--wait-timeout"]),
            Line("cameo-admin", "prune", takes: keep),
            worker,
        ]

        private static let worker = Line(
            "cameo-worker",
            takes: keep + [
                "--grace", "--job-timeout", "--retry-base", "--retry-cap", "--fetch-timeout", "--connect-timeout",
                "--cache-time", "--stale-if-error", "--remember-failures", "--render-timeout",
            ]
        )

        /// One duration in each notation. Thumbnails are kept for hours at least.
        private static let dialects: [@Sendable (String) -> String] = [
            { $0 == "--keep-thumbnails" ? "90000" : "90" }, { $0 == "--keep-thumbnails" ? "90000.5" : "90.5" },
            { $0 == "--keep-thumbnails" ? "90000000ms" : "90000ms" }, { $0 == "--keep-thumbnails" ? "90000s" : "90s" },
            { $0 == "--keep-thumbnails" ? "1500m" : "1.5m" }, { $0 == "--keep-thumbnails" ? "25h" : "0.025h" },
            { $0 == "--keep-thumbnails" ? "1.5d" : "0.001d" },
        ]

        private static func variable(_ option: String) -> String {
            "CAMEO_" + option.dropFirst(2).uppercased().replacing("-", with: "_")
        }

        @Test(arguments: lines)
        func everyDialectIsRead(line: Line) async throws {
            let deployment = try Deployment()
            for dialect in Self.dialects {
                let given = line.options.map { "\($0)=\(dialect($0))" }
                let result = try await line.run(deployment, given)
                #expect(result.exitStatus == 4, "\(given): \(result.errorText)")
            }
        }

        @Test(arguments: lines)
        func whatIsNoDurationIsRefusedByTheNameOfItsOption(line: Line) async throws {
            let deployment = try Deployment()
            for option in line.options {
                let result = try await line.run(deployment, ["\(option)=90x"])
                #expect(result.exitStatus == 2 && result.errorText.contains(option), "\(result.errorText)")
            }
        }

        @Test func theEnvironmentSpeaksTheSameDialects() async throws {
            let deployment = try Deployment()
            for dialect in Self.dialects {
                let variables = Self.worker.options.map { (Self.variable($0), dialect($0)) }
                let result = try await Self.worker.run(deployment, [], Dictionary(uniqueKeysWithValues: variables))
                #expect(result.exitStatus == 4, "\(result.errorText)")
            }
            for option in Self.worker.options {
                let result = try await Self.worker.run(deployment, [], [Self.variable(option): "90x"])
                #expect(result.exitStatus == 2 && result.errorText.contains(option), "\(result.errorText)")
            }
        }

        @Test(arguments: ["--job-timeout", "--fetch-timeout", "--connect-timeout", "--render-timeout"])
        func aTimeInWhichNothingCanBeDoneIsRefused(option: String) async throws {
            let deployment = try Deployment()
            for (text, shown) in [("0.05", "50ms"), ("50ms", "50ms"), ("0", "0s")] {
                let result = try await Self.worker.run(deployment, [option, text])
                #expect(result.exitStatus == 2, "\(text)")
                #expect(result.errorText.contains("\(option) \(shown): must be at least 100ms"), "\(result.errorText)")
            }
        }

        /// The table above has every such option, and each command's help explains the notation.
        @Test(arguments: ["cameo-enqueue", "cameo-status", "cameo-admin", "cameo-worker"])
        func theTableHasThemAllAndTheHelpExplainsThem(command: String) async throws {
            for (words, help) in try await CommandHelp.all(of: command) {
                let taken = help.options.filter { $0.valueName?.contains("duration") == true }.map(\.name)
                let line = Self.lines.first { $0.words == words }
                #expect(taken.sorted() == (line?.options ?? []).sorted(), "\(words)")
                #expect(!help.options.contains { $0.valueName == "seconds" }, "\(words)")
                guard !taken.isEmpty else { continue }
                let page = try await run(try Deployment.executable(command), Array(words.dropFirst()) + ["--help"])
                let text = page.outputText.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(
                    text.contains("without a unit it is in seconds") && text.contains("250ms, 30s, 10m, 1.5h or 7d"),
                    "\(words)"
                )
            }
        }

        @Test func aRequestSaysInSecondsWhatWasTypedInAnyUnit() async throws {
            let deployment = try Deployment()
            for (timeout, base, cap) in [("90", "2.5", "600"), ("1.5m", "2500ms", "10m")] {
                let receipt = try #require(
                    try await deployment.enqueue(
                        "\(timeout).jpg",
                        "--timeout",
                        timeout,
                        "--retry-base",
                        base,
                        "--retry-cap",
                        cap
                    ).first
                )
                let request = try ThumbnailRequest(
                    parsing: try await deployment.job(receipt.jobID).request.canonicalText.utf8
                )
                #expect((request.timeout, request.retry?.base, request.retry?.cap) == (90, 2.5, 600))
            }
        }

        @Test(arguments: ["0.05", "50ms"])
        func aWaitThatEndsSaysHowLongItWas(timeout: String) async throws {
            let result = try await Deployment().command(
                "cameo-enqueue",
                ["data:,", "--wait", "--wait-timeout", timeout]
            )
            #expect(result.exitStatus == 3 && result.errorText == "cameo-enqueue: not finished within 50ms\n")
        }
    }
}
