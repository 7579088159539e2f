import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The files that `cameo-status` writes.
    @Suite(.timeLimit(.minutes(10)))
    struct ReportFileTests {
        private let deployment: Deployment
        private let uris: [String]

        init() async throws {
            deployment = try Deployment()
            for folder in ["one", "two"] {
                let path = "\(deployment.pictures)/\(folder)"
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                try deployment.add(try await Pictures.photo("jpg"), as: "\(folder)/my photo.jpg")
            }
            uris = try await deployment.enqueue("pictures/*/*.jpg --size 20x:png --batch b")
                .flatMap(\.thumbnails).map(\.uri.text)
            try #require(try await deployment.drain().exitStatus == 0)
        }

        @Test func catToADashIsStandardOutput() async throws {
            let plain = try await deployment.command("cameo-status", ["cat", uris[0]])
            for option in [["--output", "-"], ["-o", "-"]] {
                let result = try await deployment.command("cameo-status", ["cat", uris[0]] + option)
                #expect(result.exitStatus == 0 && result.standardOutput == plain.standardOutput)
            }
            #expect(
                !plain.standardOutput.isEmpty && !FileManager.default.fileExists(atPath: deployment.folder.path("-"))
            )
        }

        @Test(arguments: [("002", "664"), ("022", "644"), ("077", "600")])
        func filesAreMadeByTheMask(mask: String, mode: String) async throws {
            let script = """
                umask \(mask); cameo-status sheet sheet.html && cameo-status export out 1 2 && cameo-status cat \(uris[0]) --output one.png &&
                stat -c '%a' sheet.html out/* one.png
                """
            let result = try await deployment.shell(script).succeeded()
            let modes = result.outputText.split(separator: "\n").suffix(5)
            #expect(modes == Array(repeating: Substring(mode), count: 5)[...], "\(result.outputText)")
        }

        private struct Entry: Decodable, Equatable {
            let file: String
            let source: String
            let uri: String
        }

        private func manifest() throws -> [Entry] {
            let data = try Data(contentsOf: URL(filePath: deployment.folder.path("out/manifest.json")))
            return try JSONDecoder().decode([Entry].self, from: data)
        }

        @Test func theManifestTellsNamesApart() async throws {
            #expect(try await deployment.command("cameo-status export out --batch b").exitStatus == 0)
            let tree = deployment.pictures.dropFirst()
            let expected = zip(["one", "two"], uris).map { folder, uri in
                Entry(
                    file: "\(tree)/\(folder)/my_photo.20x-png.png",
                    source: "file://\(deployment.pictures)/\(folder)/my%20photo.jpg",
                    uri: uri
                )
            }
            #expect(try manifest() == expected)
            for entry in expected {
                let stored = try await deployment.command("cameo-status", ["cat", entry.uri])
                let file = URL(filePath: deployment.folder.path("out/\(entry.file)"))
                #expect(try Data(contentsOf: file) == stored.standardOutput)
            }
            // Later exports into the folder add to it.
            _ = try await deployment.enqueue("initials:AB http://u:secret@127.0.0.1:1/a --size 20x:png")
            _ = try await deployment.command("cameo-admin cancel 4")
            #expect(try await deployment.drain().exitStatus == 0)
            let again = try await deployment.command("cameo-status export out")
            #expect(again.outputText == "1 thumbnail written to out, 2 already there\n", "\(again.errorText)")
            #expect(try manifest().count == 3)
            #expect(try manifest().contains { $0.source == "initials:AB" })
        }

        @Test func anothersManifestStays() async throws {
            let out = deployment.folder.path("out")
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: false)
            try deployment.folder.write(Data(#"{"name":"a web app"}"#.utf8), to: "out/manifest.json")
            let result = try await deployment.command("cameo-status export out")
            #expect(result.exitStatus == 1)
            #expect(result.errorText.contains("manifest.json: it exists and is not the manifest of an export"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: out) == ["manifest.json"])
        }

        @Test(arguments: [["export", "out"], ["sheet", "sheet.html"], ["thumbs"], ["jobs"], ["batch"]])
        func aBatchThatIsNotThereIsAnError(arguments: [String]) async throws {
            let option = arguments == ["batch"] ? [] : ["--batch"]
            let result = try await deployment.command("cameo-status", arguments + option + ["nosuch"])
            #expect(result.exitStatus == 1 && result.outputText.isEmpty)
            let isOfJobs = ["jobs", "batch"].contains(arguments[0])
            let reason = isOfJobs ? "there is no batch nosuch" : "no thumbnails match"
            #expect(result.errorText == "cameo-status: \(reason)\n")
            for name in ["out", "sheet.html"] {
                #expect(!FileManager.default.fileExists(atPath: deployment.folder.path(name)))
            }
        }
    }
}
