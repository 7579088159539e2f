import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Every block of the pages, and what `deploy` installs or runs, is read by its own program. What of it is run, and with
    /// what result, is the matter of PageTests and others.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze"), "needs systemd-analyze")
    )
    struct BlockTests {
        private static let languages = BlockLanguage.allCases.filter { Deployment.hasWeb || !$0.needsServers }

        private static func pages() throws -> [Page] { try Page.all() + [Page("proto-json/README.md")] }

        @Test func everyBlockIsOfALanguageThatIsRead() throws {
            for page in try Self.pages() {
                for block in page.blocks where BlockLanguage(rawValue: block.language) == nil {
                    Issue.record("\(page.path) has a block of \(block.language), which no program reads: \(block.text)")
                }
            }
        }

        @Test(arguments: languages) func itsProgramReadsEveryBlock(language: BlockLanguage) async throws {
            var count = 0
            for page in try Self.pages() {
                let blocks = page.blocks.filter { $0.language == language.rawValue }.map(\.text)
                guard !blocks.isEmpty else { continue }
                let complaints = try await language.complaints(about: blocks, of: page.path)
                #expect(complaints.isEmpty, "\(page.path): \(complaints)")
                count += blocks.count
            }
            #expect(count > 0)
        }

        @Test(arguments: languages) func itsProgramRefusesABrokenBlock(language: BlockLanguage) async throws {
            guard let broken = language.broken else { return }
            #expect(!(try await language.complaints(about: [broken], of: "Page.md")).isEmpty)
        }

        /// Scripts, settings and rules of `deploy`. A file of another kind needs a line here.
        @Test(.enabled(if: Deployment.hasWeb, "--all")) func everyFileOfDeployIsRead() async throws {
            let folder = Repository.file("deploy")
            var count = 0
            for name in try #require(FileManager.default.subpaths(atPath: folder.path)) {
                let file = folder.appending(path: name)
                let isFile = try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile
                guard isFile == true, !name.contains("__pycache__") else { continue }
                let text = try String(contentsOf: file, encoding: .utf8)
                let language: BlockLanguage
                switch (file.pathExtension, text.prefix { $0 != "\n" }) {
                case ("yml", _):
                    try await run("promtool", ["check", "rules", file.path]).succeeded()
                    continue
                case ("yaml", _): language = .yaml
                case ("json", _): language = .json
                case ("conf", _), ("store", _): language = .env
                case ("py", _), (_, "#!/usr/bin/env python3"): language = .python
                case ("sh", _), (_, "#!/bin/sh"), (_, "#!/usr/bin/env bash"): language = .sh
                // Read by ServiceUnitTests; by RoleTests; and by the checks of the package and of the image.
                case ("service", _), ("socket", _), ("sql", _), ("1", _): continue
                case _ where ["container/Containerfile", "packaging/copyright"].contains(name): continue
                default:
                    Issue.record("no program reads deploy/\(name)")
                    continue
                }
                let complaints = try await language.complaints(about: [text], of: name)
                #expect(complaints.isEmpty, "deploy/\(name): \(complaints)")
                count += 1
            }
            #expect(count > 25)
        }
    }
}
