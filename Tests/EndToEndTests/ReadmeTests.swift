import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Everything that the README tells its reader to type is typed here, in the order of the page.
    @Suite(.timeLimit(.minutes(10)))
    struct ReadmeTests {
        private struct Block {
            let language: String
            let text: String
        }

        private func blocks() throws -> [Block] {
            let text = try String(contentsOf: Repository.file("README.md"), encoding: .utf8)
            var blocks: [Block] = []
            var open: (language: String, lines: [Substring])?
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.hasPrefix("```") {
                    if let block = open {
                        blocks.append(Block(language: block.language, text: block.lines.joined(separator: "\n") + "\n"))
                        open = nil
                    } else {
                        open = (String(line.dropFirst(3)), [])
                    }
                } else {
                    open?.lines.append(line)
                }
            }
            return blocks
        }

        @Test func everyCommandWorksInTheOrderOfThePage() async throws {
            let folder = try TemporaryFolder()
            try FileManager.default.createDirectory(atPath: folder.path("holiday"), withIntermediateDirectories: true)
            for name in ["photo.jpg", "holiday/beach.jpg", "holiday/dune.jpg", "holiday/map.png"] {
                let ending = URL(filePath: name).pathExtension
                try FileManager.default.linkItem(atPath: try await Pictures.photo(ending), toPath: folder.path(name))
            }
            let bin = URL(filePath: try Deployment.executable("cameo-status")).deletingLastPathComponent().path
            let path = "\(bin):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
            var ran = 0
            for block in try blocks() {
                let command: (String, [String])
                switch block.language {
                case "sh": command = ("/bin/sh", ["-eu"])
                case "python": command = ("/usr/bin/python3", ["-"])
                case "console", "text": continue
                case "swift": continue  // compiled and run by CameoTests/DocumentationTests
                default:
                    Issue.record("a block of \(block.language): say how it is tested")
                    continue
                }
                let result = try await run(
                    command.0,
                    command.1,
                    input: Data(block.text.utf8),
                    environment: ["PATH": path, "CAMEO_STORE": nil],
                    currentDirectory: folder.url
                )
                #expect(result.exitStatus == 0, "\(block.text)\(result.errorText)")
                ran += 1
            }
            #expect(ran >= 5)
            #expect(FileManager.default.fileExists(atPath: folder.path("holiday.html")))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("thumbnails")).count == 5)
            let photos = "SELECT count(*) FROM app_photo JOIN job ON job.id = app_photo.job"
            #expect(try await run("sqlite3", [folder.path("cameo-store/cameo.sqlite"), photos]).outputText == "1\n")
            let left = "SELECT count(*) FROM outbox"
            #expect(try await run("sqlite3", [folder.path("shop.sqlite"), left]).outputText == "0\n")
        }

        @Test func theTwoCommandsAreThere() throws {
            let console = try #require(try blocks().first { $0.language == "console" })
            for line in console.text.split(separator: "\n") {
                let command = try #require(line.dropFirst(2).split(separator: " ").first)
                #expect(FileManager.default.isExecutableFile(atPath: Repository.file(String(command)).path))
            }
        }

        /// The table of limits names every default as the worker's own help does.
        @Test func theLimitsAreTheWorkersOwn() async throws {
            let help = try await run(try Deployment.executable("cameo-worker"), ["--help"]).outputText
            let readme = try String(contentsOf: Repository.file("README.md"), encoding: .utf8)
            let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let rows = readme.split(separator: "\n").filter { $0.hasPrefix("|") && $0.contains("`--") }
                .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
                .filter { $0.count == 3 }
            #expect(rows.count >= 12)
            for row in rows {
                let options = row[2].split(separator: "`").map(String.init).filter { $0.hasPrefix("--") }
                let defaults = row[1].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                for (option, value) in zip(options, defaults) {
                    let start = try #require(words.range(of: "\(option) <"), "\(option) is not in the help")
                    let rest = words[start.lowerBound...].prefix(300)
                    guard value.first?.isNumber == true else { continue }
                    #expect(
                        rest.contains("(default: \(value))") || rest.contains("(default: \(value).0)"),
                        "\(option): \(value) in the README, \(rest) in the help"
                    )
                }
            }
        }
    }
}
