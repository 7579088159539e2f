import CameoModel
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Thumbnails are found, described and written without their jobs.
    @Suite(.timeLimit(.minutes(10)))
    struct ThumbnailCommandTests {
        private let deployment: Deployment

        init() throws { deployment = try Deployment() }

        private func facts(_ line: String) async throws -> [ThumbnailFacts] {
            let result = try await deployment.command("cameo-status \(line) --json").succeeded()
            try await expectValid("thumbnail-facts", result.standardOutput)
            return try Self.facts(result)
        }

        private static func facts(_ result: ProcessResult) throws -> [ThumbnailFacts] {
            try result.outputText.split(separator: "\n").map {
                try WireFormat.decode(ThumbnailFacts.self, from: Data($0.utf8))
            }
        }

        /// Three letter avatars, the jobs of which are gone.
        private func makeThree() async throws -> [String] {
            var uris: [String] = []
            let three = [("AB", "--label user:1 --batch b"), ("CD", "--label user:2"), ("EF", "--batch b")]
            for (letters, options) in three {
                let receipts = try await deployment.enqueue("initials:\(letters) --size 20x:png \(options)")
                uris += receipts.flatMap(\.thumbnails).map(\.uri.text)
            }
            try await deployment.drain().succeeded()
            try await deployment.command("cameo-admin prune --keep completed=0").succeeded()
            try #require(try await deployment.command("cameo-status jobs").outputText.isEmpty)
            return uris
        }

        @Test func thumbnailsAreFoundByWhatIsKnownOfThem() async throws {
            let uris = try await makeThree()
            let names = "\(uris[0]) \(uris[1].suffix(32)) https://host/thumb/\(uris[2].suffix(32)).webp"
            let known = try await facts("thumb \(names)")
            #expect(known.map(\.thumbnail.uri.text) == uris)
            #expect(known.map(\.labels) == [["user:1"], ["user:2"], []] && known.allSatisfy { $0.job == nil })
            let selections: [(String, [Int])] = [
                ("", [0, 1, 2]), ("--label user:1", [0]), ("--batch b", [0, 2]), ("--batch b --label user:1", [0]),
                ("--source initials:C", [1]), ("--search ALS:C", [1]), ("--search EF --batch b", [2]),
                ("--same-as \(uris[0])", [0]), ("--same-as initials:CD", [1]), ("--same-as initials:CD --batch b", []),
                ("--digest \(known[2].sourceDigest)", [2]), ("--since 1h", [0, 1, 2]),
            ]
            for (selection, expected) in selections {
                let result = try await deployment.command("cameo-status thumbs \(selection) --json")
                #expect(result.exitStatus == (expected.isEmpty ? 1 : 0), "\(selection): \(result.errorText)")
                let found = try Self.facts(result).map(\.thumbnail.uri.text)
                #expect(found.sorted() == expected.map { uris[$0] }.sorted(), "\(selection)")
            }
            for command in ["batch b", "batch b --wait", "jobs --batch b"] {
                let gone = try await deployment.command("cameo-status \(command)")
                #expect(gone.exitStatus == 1 && gone.outputText.isEmpty)
                for advice in [
                    "jobs of the batch b were removed", "`cameo-status thumbs --batch", "`cameo-status export",
                ] {
                    #expect(gone.errorText.contains(advice), "\(gone.errorText)")
                }
            }
            for (command, expected) in [("sheet - --label user:2", 1), ("sheet - --batch b", 2), ("sheet -", 3)] {
                let html = try await deployment.command("cameo-status \(command)").succeeded().outputText
                #expect(html.components(separatedBy: "<img ").count == expected + 1, "\(command)")
            }
            for (selection, expected) in [("--label user:2", 1), ("--source initials: --since 1h", 3)] {
                let out = "out-\(expected)"
                try await deployment.command("cameo-status export \(out) \(selection)").succeeded()
                #expect(try deployment.exported(out).count == expected, "\(selection)")
            }
        }

        @Test func pagesEndWithTheCursorOfTheNext() async throws {
            let uris = try await makeThree()
            let first = try await deployment.command("cameo-status thumbs --limit 2").succeeded()
            let cursor = try #require(first.errorText.split(separator: " ").last).trimmingCharacters(in: .newlines)
            #expect(first.errorText == "for the next page: --after \(cursor)\n")
            #expect(first.outputText.split(separator: "\n").count == 3)
            let second = try await facts("thumbs --limit 2 --after \(cursor)").map(\.thumbnail.uri.text)
            let listed = Set(second + uris.filter { first.outputText.contains($0.suffix(32)) })
            #expect(second.count == 1 && listed == Set(uris))
            let end = try await deployment.command("cameo-status", ["thumbs", "--after", second[0]]).succeeded()
            #expect(end.outputText.isEmpty && end.errorText == "cameo-status: these were all\n")
        }

        @Test func whatDoesNotExistIsNamedAndWhy() async throws {
            let made = try await makeThree()[0]
            let failing = try #require(try await deployment.enqueue("/none/a.jpg --size 20x").first)
            _ = try await deployment.drain()
            let waiting = try #require(try await deployment.enqueue("initials:GH --size 20x:png").first)
            let never = "cameo://thumb/0123456789abcdef0123456789abcdef"
            let (failed, promised) = (failing.thumbnails[0].uri, waiting.thumbnails[0].uri)
            let result = try await deployment.command("cameo-status thumb \(failed) \(made) \(promised) \(never)")
            #expect(result.exitStatus == 1 && result.outputText.hasPrefix("\(made)\n  source      initials:AB\n"))
            let lines = result.errorText.split(separator: "\n").map(String.init)
            try #require(lines.count == 3, "\(lines)")
            let (ended, next) = (try failing.jobID, try waiting.jobID)
            let reason = "does not exist: job \(ended) ended without it (source."
            #expect(lines[0].hasPrefix("cameo-status: \(failed) \(reason)"))
            #expect(lines[1] == "cameo-status: \(promised) does not exist yet: job \(next) promises it")
            #expect(lines[2] == "cameo-status: \(never) does not exist, and no job promises it")
            try await deployment.command("cameo-admin forget --uri \(made)").succeeded()
            let json = try await deployment.command("cameo-status thumb \(failed) \(made) \(promised) \(never) --json")
            #expect(json.exitStatus == 1 && json.errorText.isEmpty)
            let answers = try json.outputText.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
            #expect(
                answers == [
                    [
                        "uri": .string(failed.text), "state": "failed", "job": .integer(ended),
                        "code": "source.forbidden",
                    ],
                    ["uri": .string(made), "state": "forgotten"],
                    ["uri": .string(promised.text), "state": "promised", "job": .integer(next)],
                    ["uri": .string(never), "state": "notAskedFor"],
                ]
            )
        }

        /// Whatever the thumbnails, the names and the renditions.
        @Test func thumbnailsOfTheSameFileAreFoundByIt() async throws {
            let deployment = try await Deployment.withPhoto()
            let folder = deployment.pictures
            try await deployment.shell("cp photo.jpg copy.jpg", in: "pictures").succeeded()
            _ = try await deployment.enqueue(["\(folder)/photo.jpg", "\(folder)/copy.jpg", "--size", "20x"])
            _ = try await deployment.enqueue(["initials:AB", "--size", "20x"])
            _ = try await deployment.drain()
            func count(_ selection: String...) async throws -> Int {
                let result = try await deployment.command("cameo-status", ["thumbs", "--json"] + selection).succeeded()
                return try Self.facts(result).count
            }
            #expect(try await count() == 3)
            #expect(try await count("--same-as", "\(folder)/copy.jpg") == 2)
            #expect(try await count("--same-as", "\(folder)/copy.jpg", "--search", "photo") == 1)
            let gone = try await deployment.command("cameo-status", ["thumbs", "--same-as", "none.jpg"])
            #expect(gone.exitStatus == 2 && gone.errorText.contains("--same-as none.jpg: cannot be read"))
        }

        @Test(arguments: ["thumbs", "export out", "sheet sheet.html", "export out 1"])
        func aSelectionOfNothingIsAnError(command: String) async throws {
            _ = try await deployment.enqueue("a.jpg")
            let result = try await deployment.command("cameo-status \(command)")
            #expect(result.exitStatus == 1 && result.outputText.isEmpty)
            #expect(result.errorText == "cameo-status: there are no thumbnails yet\n")
            for name in ["out", "sheet.html"] {
                #expect(!FileManager.default.fileExists(atPath: deployment.folder.path(name)))
            }
        }
    }
}
