import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// One concept has one word and one form in every command, and options without effect are refused.
    @Suite(.timeLimit(.minutes(10)))
    struct OneFormTests {
        private let deployment: Deployment

        init() async throws {
            deployment = try Deployment()
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
        }

        private func requests() async throws -> [JSONValue] {
            try await deployment.sql("SELECT request FROM job ORDER BY id;").split(separator: "\n").map {
                try JSONValue(parsing: String($0))
            }
        }

        @Test func gravityIsForTheSizesThatAreCutOrPadded() async throws {
            _ = try await deployment.enqueue(
                "data:,",
                "--gravity",
                "north",
                "--size",
                "9x9:cover",
                "--size",
                "9x9",
                "--size",
                "8x:contain"
            )
            let request = try #require(try await requests().first)
            let expected = #"""
                [{"fit":"cover","gravity":"north","height":9,"width":9},{"height":9,"width":9},{"fit":"contain","width":8}]
                """#
            #expect(request.canonicalText.contains(expected), "\(request.canonicalText)")
        }

        @Test func headersAreForTheSourcesThatAreFetched() async throws {
            let header = ["--header", "X-Tenant: 7"]
            for arguments in [["pictures/photo.jpg"], ["initials:JD"], ["--data"]] {
                let result = try await deployment.command("cameo-enqueue", arguments + header, input: Data([1]))
                #expect(result.exitStatus == 2, "\(arguments)")
                #expect(result.errorText.hasPrefix("Error: --header X-Tenant: is only sent to http: and https:"))
            }
            #expect(!FileManager.default.fileExists(atPath: deployment.store))
            let plain = try await deployment.enqueue("pictures/photo.jpg")
            let mixed = try await deployment.enqueue(["pictures/photo.jpg", "https://example.com/a.jpg"] + header)
            #expect(mixed[0].thumbnails == plain[0].thumbnails, "a file's URI is the same, whatever else is asked for")
            #expect(try await requests().last?.canonicalText.contains(#""headers":{"X-Tenant":"7"}"#) == true)
        }

        @Test func jpgMeansJPEG() async throws {
            for arguments in [["--size", "9x:jpg"], ["--size", "9x", "--format", "jpg"], ["--size", "9x:jpeg"]] {
                _ = try await deployment.enqueue(["data:,\(arguments.count)\(arguments[1])"] + arguments)
            }
            #expect(try await requests().allSatisfy { $0.canonicalText.contains(#""format":"jpeg""#) })
        }

        @Test func waitingHasOneWord() async throws {
            for command in ["cameo-enqueue", "cameo-status", "cameo-admin"] {
                for (words, help) in try await CommandHelp.all(of: command) {
                    let names = help.options.map(\.name)
                    #expect(names.contains("--wait") == names.contains("--wait-timeout"), "\(words)")
                    #expect(!names.contains("--timeout") || words == ["cameo-enqueue"], "\(words)")
                    #expect(!names.contains("--none"), "\(words)")
                }
            }
        }

        @Test(arguments: ["MiB", "bytes", "KiB"])
        func noOptionTakesSizesInAUnitOfItsOwn(unit: String) async throws {
            for command in ["cameo-enqueue", "cameo-worker"] {
                for (words, help) in try await CommandHelp.all(of: command) {
                    #expect(!help.options.contains { $0.valueName == unit }, "\(words)")
                }
            }
        }

        @Test(
            arguments: TestLength.few([
                "--max-source-bytes", "--memory-limit", "--recycle-resident", "--low-speed", "--max-cache",
            ])
        )
        func everySizeIsReadInEveryForm(option: String) async throws {
            for text in ["1073741824", "1024M", "1G", "1GiB", "1g"] {
                let result = try await deployment.command(
                    "cameo-worker",
                    ["--store", "/proc/none/store", option, text]
                )
                #expect(result.exitStatus == 4, "\(option) \(text): \(result.errorText)")
            }
            for text in ["1X", "-1", "1.5.G", ""] {
                let result = try await deployment.command("cameo-worker", ["\(option)=\(text)"])
                #expect(result.exitStatus == 2 && result.errorText.contains(option), "\(option) \(text)")
            }
        }

        @Test func aThumbnailsSizeToo() async throws {
            _ = try await deployment.enqueue("data:,", "--max-bytes", "60K")
            #expect(try await requests()[0].canonicalText.contains(#""maxBytes":61440"#))
        }

        @Test func anAddressOfARendererIsLimitedByAnySize() async throws {
            let result = try await deployment.command("cameo-worker", ["--memory-limit", "1536"])
            #expect(result.exitStatus == 2)
            #expect(result.errorText.contains("--memory-limit 1536: must be between 512MiB and 1TiB"))
        }

        /// Stopping at once is called `now` in the option, the report and the answer.
        @Test func nowIsNow() async throws {
            let worker = try deployment.startWorker()
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await !$0.status().workers.isEmpty }
            try await deployment.freeze(worker)
            let answer = try await deployment.command("cameo-admin", ["worker", "stop", "--all", "--now", "--json"])
            #expect(answer.outputText.contains(#""stopping":"now""#), "\(answer.outputText)\(answer.errorText)")
            try await expectValid("status-report#/$defs/worker", answer.standardOutput)
            worker.send(SIGCONT)
            #expect(await worker.ending == .exited(0))
        }

        @Test(arguments: [
            "--request /dev/stdin < request.json", "--request <(cat request.json)", "--request - < request.json",
        ])
        func aRequestMayComeThroughAPipe(arguments: String) async throws {
            try deployment.folder.write(
                Data(#"{"source":"initials:JD","renditions":[{"width":9}]}"#.utf8),
                to: "request.json"
            )
            let result = try await run(
                "/bin/bash",
                ["-c", "'\(try Deployment.executable("cameo-enqueue"))' \(arguments)"],
                environment: ["CAMEO_STORE": deployment.store],
                currentDirectory: deployment.folder.url
            )
            #expect(result.exitStatus == 0, "\(result.errorText)")
        }

        @Test func presetsMayComeThroughAPipe() async throws {
            let file = #"{"presets":{"mine":{"renditions":[{"width":7}]}}}"#
            let script =
                "'\(try Deployment.executable("cameo-enqueue"))' data:, --json --preset mine --presets <(echo '\(file)')"
            let result = try await run("/bin/bash", ["-c", script], environment: ["CAMEO_STORE": deployment.store])
            #expect(result.exitStatus == 0 && result.outputText.contains("7x"), "\(result.errorText)")
        }
    }
}
