import CameoReport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `cameo-status` on a terminal that `terminal.py` makes.
    @Suite(.timeLimit(.minutes(10)))
    struct TerminalTests {
        private static let leave = "\u{1B}[?25h\u{1B}[?1049l"
        private let deployment: Deployment

        init() throws {
            deployment = try Deployment()
        }

        struct Session: Decodable {
            let output: String
            let marks: [Int]
            let exitStatus: Int
            /// The terminal's modes, whenever the program was stopped and at its end.
            let restored: [Bool]

            /// The output after a step.
            func output(after step: Int) -> String {
                String(String.UnicodeScalarView(output.unicodeScalars.dropFirst(marks[step])))
            }

            /// The lines of each complete drawing, without escape sequences.
            static func frames(_ text: String) -> [[String]] {
                let frames = text.components(separatedBy: "\u{1B}[H").dropFirst().filter { $0.contains("\u{1B}[J") }
                return frames.map { frame in
                    let drawn = frame.components(separatedBy: "\u{1B}[J")[0].replacing("\r\n", with: "\n")
                    return drawn.replacing(#/\u{1B}\[[0-9;?]*[A-Za-z]/#, with: "").components(separatedBy: "\n")
                }
            }
        }

        private func session(
            _ size: String,
            _ steps: [String],
            _ arguments: [String] = ["--watch"],
            environment: [String: String?] = [:],
            through shell: [String] = []
        ) async throws -> Session {
            let script = Repository.file("Tests/EndToEndTests/terminal.py").path
            let program = shell + [try Deployment.executable("cameo-status")] + arguments
            let result = try await run(
                "/usr/bin/python3",
                [script, size] + steps + ["--"] + program,
                environment: ["CAMEO_STORE": deployment.store, "TERM": "xterm-256color", "NO_COLOR": nil]
                    .merging(environment) { $1 },
                currentDirectory: deployment.folder.url
            ).succeeded()
            return try JSONDecoder().decode(Session.self, from: result.standardOutput)
        }

        @Test func aWatchIsRedrawnUntilQAndFollowsTheWindow() async throws {
            _ = try await deployment.enqueue("a.jpg b.jpg --queue imports")
            let more = "'\(try Deployment.executable("cameo-enqueue"))' --allow-missing c.jpg > /dev/null"
            let session = try await session(
                "80x24",
                ["wait:imports", "run:\(more)", "wait:3 available", "resize:30x8", "wait:…", "wait:\u{1B}[J", "type:q"]
            )
            #expect(session.exitStatus == 0 && session.restored == [true])
            #expect(session.output.hasPrefix("\u{1B}[?1049h\u{1B}[?25l") && session.output.hasSuffix(Self.leave))
            #expect(session.output.contains("\u{1B}[1mjobs\u{1B}[0m"), "headings are bold")
            let wide = Session.frames(session.output)
            #expect(wide[0].contains { $0.hasPrefix("imports") } && wide[0].contains { $0.contains("per second") })
            for frame in wide {
                #expect(frame.count <= 24)
                for line in frame { #expect(line.columns <= 80, "\(line)") }
            }
            let narrow = try #require(wide.last)
            #expect(narrow.count == 8 && narrow.last == "…", "\(narrow)")
            for line in narrow { #expect(line.columns <= 30, "\(line)") }
        }

        @Test(arguments: [
            (["type:\\x03"], 130), (["type:\\x1c"], 131), (["signal:INT"], 130), (["signal:TERM"], 143),
            (["signal:HUP"], 129), (["signal:QUIT"], 131),
            (["type:\\x1a", "stopped", "signal:CONT", "wait:\u{1B}[J", "type:Q"], 0),
        ])
        func everyWayOutRestoresTheTerminal(steps: [String], status: Int) async throws {
            _ = try await deployment.enqueue("a.jpg")
            let session = try await session("80x24", ["wait:\u{1B}[J"] + steps)
            #expect(session.exitStatus == status)
            #expect(session.restored.allSatisfy { $0 } && session.restored.count == (steps.count > 1 ? 2 : 1))
            #expect(session.output.hasSuffix(Self.leave), "\(session.output.suffix(80))")
            guard steps.count > 1 else { return }
            let drawnAgain = session.output(after: 2)
            #expect(drawnAgain.contains("\u{1B}[?1049h") && Session.frames(drawnAgain).count >= 1)
        }

        @Test func aStoreThatGoesAwayEndsTheWatchByName() async throws {
            _ = try await deployment.enqueue("a.jpg")
            let session = try await session(
                "80x24",
                [
                    "wait:\u{1B}[J",
                    "run:printf 'PRAGMA user_version = 99;' | sqlite3 '\(deployment.store)/cameo.sqlite'",
                ]
            )
            #expect(session.exitStatus == 4 && session.restored == [true])
            let message = try #require(session.output.components(separatedBy: Self.leave).last)
            #expect(message.hasPrefix("cameo-status: ") && message.contains("schema version 99"), "\(message)")
        }

        @Test func withoutATerminalAWatchPrintsLines() async throws {
            _ = try await deployment.enqueue("a.jpg")
            let command = "\"$0\" --watch | head -n 2; TERM=dumb \"$0\" --watch | head -n 1"
            let result = try await run(
                "/bin/sh",
                ["-c", command, try Deployment.executable("cameo-status")],
                environment: ["CAMEO_STORE": deployment.store]
            )
            let lines = result.outputText.split(separator: "\n")
            #expect(lines.count == 3 && !result.outputText.contains("\u{1B}"), "\(result.errorText)")
            for line in lines {
                #expect(
                    line.contains(#/^20[-0-9T:.]+Z  0 scheduled  1 available  .*  0\.0\/min  oldest waits /#),
                    "\(line)"
                )
            }
        }

        @Test func coloursAreLeftOutWhereTheyAreNotWanted() async throws {
            _ = try await deployment.enqueue("a.jpg")
            for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
                let plain = try await session("80x24", [], [], environment: environment)
                #expect(!plain.output.contains("\u{1B}") && plain.output.contains("1 available"))
            }
            #expect(try await session("80x24", [], []).output.contains("\u{1B}[1mjobs\u{1B}[0m"))
            let watch = try await session("80x24", ["wait:\u{1B}[J", "type:q"], environment: ["NO_COLOR": "1"])
            #expect(!watch.output.contains(#/\u{1B}\[[0-9;]*m/#))
        }

        @Test(arguments: [40, 80, 100])
        func aListOfJobsFits(columns: Int) async throws {
            _ = try await deployment.enqueue("https://example.com/" + String(repeating: "caf%C3%A9", count: 20))
            let output = try await session("\(columns)x24", [], ["jobs"]).output
            let lines = output.replacing(#/\u{1B}\[[0-9]*m/#, with: "").split(separator: "\r\n")
            try #require(lines.count == 2)
            for line in lines { #expect(String(line).columns <= columns, "\(line)") }
            #expect(columns < 80 || lines[1].contains("https://") && lines[1].hasSuffix("cafécafé"), "\(lines)")
        }
    }
}
