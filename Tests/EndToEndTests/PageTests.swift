import CameoModel
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Everything that the README and the articles tell their reader to type is typed here.
    @Suite(.timeLimit(.minutes(10)))
    struct PageTests {
        /// Pages with something to type, and what must be there afterwards.
        private static let results = [
            "README.md": ["thumbnails/manifest.json", "photo-1024.jpg"],
            "Enqueueing.md": [],
            "EnqueueingBySQL.md": ["shop.sqlite"],
            "FollowATable.md": ["app.sqlite"],
            "Hooks.md": ["ended.jsonl", "received.txt"],
            "HowDoI.md": ["moved/cameo.sqlite", "backup-of-monday/cameo.sqlite"],
            "Operating.md": ["backup-of-today/cameo.sqlite", "jobs.csv"],
            "ReadingThumbnails.md": ["map.webp", "thumbnails/manifest.json", "holiday.html"],
            "Renditions.md": ["presets.json"],
            "RunningAWorker.md": [],
            "ShowInYourPage.md": ["job.json"],
            "SourcesAndCache.md": [],
            "UntrustedUploads.md": [],
            "Web.md": ["receipt.json", "job.json", "thumbnail.webp"],
        ]

        /// A folder as the pages suppose it: a photo, and others in a folder `holiday`.
        private func folderOfPictures() async throws -> TemporaryFolder {
            let folder = try TemporaryFolder()
            try FileManager.default.createDirectory(atPath: folder.path("holiday"), withIntermediateDirectories: true)
            for name in ["photo.jpg", "holiday/beach.jpg", "holiday/dune.jpg", "holiday/map.png"] {
                let ending = URL(filePath: name).pathExtension
                try FileManager.default.copyItem(atPath: try await Pictures.photo(ending), toPath: folder.path(name))
            }
            return folder
        }

        /// Each page begins with no store; its blocks run one after the other, and all of them end well.
        @Test(arguments: TestLength.few(Page.paths.filter { Deployment.hasWeb || !$0.hasSuffix("/Web.md") }, 6))
        func everyCommandWorksInTheOrderOfThePage(path: String) async throws {
            let folder = try await folderOfPictures()
            let bin = URL(filePath: try Deployment.executable("cameo-status")).deletingLastPathComponent().path
            let search = "\(bin):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
            var ran = 0
            for block in try Page(path).blocks {
                let command: (String, [String])
                switch block.language {
                case "sh": command = ("/bin/sh", ["-eu"])
                // That of fleets is run by CameoPostgreSQLTests/ArticleTests.
                case "python" where !path.hasSuffix("/FromOneToMany.md"): command = ("/usr/bin/python3", ["-"])
                default: continue  // read by BlockTests
                }
                let result = try await run(
                    command.0,
                    command.1,
                    input: Data(block.text.utf8),
                    environment: ["PATH": search, "CAMEO_STORE": nil],
                    currentDirectory: folder.url
                )
                #expect(result.exitStatus == 0, "\(path): \(block.text)\(result.errorText)")
                ran += 1
            }
            let name = URL(filePath: path).lastPathComponent
            #expect((ran > 0) == (Self.results[name] != nil), "\(path) has \(ran) blocks to run")
            for file in Self.results[name] ?? [] {
                #expect(FileManager.default.fileExists(atPath: folder.path(file)), "\(path) leaves no \(file)")
            }
            guard name == "EnqueueingBySQL.md" else { return }
            let photos = "SELECT count(*) FROM app_photo JOIN job ON job.id = app_photo.job"
            #expect(try await run("sqlite3", [folder.path("cameo-store/cameo.sqlite"), photos]).outputText == "1\n")
            let left = "SELECT count(*) FROM outbox"
            #expect(try await run("sqlite3", [folder.path("shop.sqlite"), left]).outputText == "0\n")
        }

        @Test func everyScriptInAConsoleIsThere() throws {
            var scripts = 0
            for page in try Page.all() {
                for block in page.blocks where block.language == "console" {
                    for line in block.text.split(separator: "\n") where line.hasPrefix("$ deploy/") {
                        let command = try #require(line.dropFirst(2).split(separator: " ").first)
                        let file = Repository.file(String(command)).path
                        #expect(FileManager.default.isExecutableFile(atPath: file), "\(page.path): \(command)")
                        scripts += 1
                    }
                }
            }
            #expect(scripts >= 4)
        }

        @Test func everyFailureCodeHasAnAdvice() throws {
            let section = try #require(try Page.article("HowDoI").section("Handle failed jobs"))
            let codes = section.matches(of: #/(?m)^ *\| `([a-zA-Z.]+)` \| [a-z]/#).map { String($0.output.1) }
            #expect(codes == JobFailure.Code.allCases.map(\.rawValue))
        }

        /// The table of limits names every default as the worker's own help does.
        @Test func theLimitsAreTheWorkersOwn() async throws {
            let help = try await run(try Deployment.executable("cameo-worker"), ["--help"]).outputText
            let section = try #require(try Page.article("RunningAWorker").section("Limits"))
            let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let rows = section.split(separator: "\n").filter { $0.hasPrefix("|") && $0.contains("`--") }
                .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
                .filter { $0.count == 3 }
            #expect(rows.count >= 12)
            for row in rows {
                let options = row[2].split(separator: "`").map(String.init).filter { $0.hasPrefix("--") }
                let cells = row[1].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                // One option may have several values.
                let defaults = options.count == 1 ? [row[1]] : cells
                for (option, value) in zip(options, defaults) {
                    let start = try #require(words.range(of: "\(option) <"), "\(option) is not in the help")
                    let rest = words[start.lowerBound...].prefix(500)
                    guard value.contains(where: \.isNumber) else { continue }
                    #expect(
                        rest.contains("(default: \(value))") || rest.contains("(default: \(value).0)"),
                        "\(option): \(value) on the page, \(rest) in the help"
                    )
                }
            }
        }
    }
}
