import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// What `cameo-enqueue` reads beside its command line: headers for some sources, requests and presets.
    @Suite(.timeLimit(.minutes(10)))
    struct EnqueueInputTests {
        private let deployment: Deployment

        init() async throws {
            deployment = try await Deployment.withPhoto()
        }

        private func requests() async throws -> [JSONValue] {
            try await deployment.sql("SELECT request FROM job ORDER BY id;").split(separator: "\n").map {
                try JSONValue(parsing: String($0))
            }
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

        @Test(arguments: [
            "--request /dev/stdin < request.json", "--request <(cat request.json)", "--request - < request.json",
        ])
        func aRequestMayComeThroughAPipe(arguments: String) async throws {
            try deployment.folder.write(
                Data(#"{"source":"initials:JD","renditions":[{"width":9}]}"#.utf8),
                to: "request.json"
            )
            try await deployment.shell("cameo-enqueue \(arguments)").succeeded()
        }

        @Test func presetsMayComeThroughAPipe() async throws {
            let file = #"{"presets":{"mine":{"renditions":[{"width":7}]}}}"#
            let script = "cameo-enqueue data:, --json --preset mine --presets <(echo '\(file)')"
            let result = try await deployment.shell(script)
            #expect(result.exitStatus == 0 && result.outputText.contains("7x"), "\(result.errorText)")
        }

        // MARK: - Presets

        private static let file = #"""
            {"presets": {"gallery": {"description": "ours", "renditions": [{"width": 7}]},
                         "mail": {"renditions": [{"name": "inline", "width": 600, "format": "jpeg"}]}}}
            """#

        private func names(_ receipts: [EnqueueReceipt]) -> [String] { receipts.flatMap(\.thumbnails).map(\.name) }

        @Test func uploadMayHaveAPreset() async throws {
            let deployment = try Deployment()
            let receipts = try await deployment.enqueue("--data --preset gallery", input: Data([1]))
            #expect(names(receipts) == ["grid", "view", "large"])
        }

        @Test func fileAddsAndReplaces() async throws {
            let deployment = try Deployment()
            let path = try deployment.folder.write(Data(Self.file.utf8), to: "presets.json")
            let given = ["data:,", "--json", "--preset", "gallery", "--preset", "mail", "--preset", "social"]
            for (arguments, environment) in [
                (["--presets", path], [:]), ([], ["CAMEO_PRESETS": path]),
                (["--presets", path], ["CAMEO_PRESETS": "/none"]),
            ] as [([String], [String: String?])] {
                let result = try await deployment.command("cameo-enqueue", given + arguments, environment: environment)
                let receipt = try WireFormat.decode(EnqueueReceipt.self, from: Data(result.standardOutput))
                #expect(names([receipt]) == ["7x", "inline", "og", "square"], "\(result.errorText)")
            }
        }

        @Test func listIsAPresetsFile() async throws {
            let deployment = try Deployment()
            let path = try deployment.folder.write(Data(Self.file.utf8), to: "presets.json")
            let result = try await deployment.command("cameo-enqueue", ["--list-presets", "--json", "--presets", path])
            let expected = try PresetFile.builtIn().replaced(by: try PresetFile(parsing: Self.file.utf8))
            #expect(try PresetFile(parsing: result.standardOutput) == expected)
            let script = Repository.file("Tests/CameoModelTests/validate.py").path
            let verdict = try await run("/usr/bin/python3", [script, "presets"], input: result.standardOutput)
            #expect(verdict.exitStatus == 0, "\(verdict.outputText)\(verdict.errorText)")
            let text = try await deployment.command("cameo-enqueue", ["--list-presets", "--presets", path]).outputText
            #expect(text.contains("gallery\tours\t7x\n"))
            #expect(text.split(separator: "\n").count == expected.all.count)
            #expect(!FileManager.default.fileExists(atPath: deployment.store))
        }

        @Test func aMistakeInTheFileIsNamed() async throws {
            let deployment = try Deployment()
            try deployment.folder.write(Data(#"{"presets":{"a":{"renditions":[{"width":0}]}}}"#.utf8), to: "bad.json")
            let result = try await deployment.command("cameo-enqueue a.jpg --preset gallery --presets bad.json")
            #expect(result.exitStatus == 2)
            #expect(
                result.errorText.contains("--presets bad.json: presets.a.renditions[0].width"),
                "\(result.errorText)"
            )
            #expect(!FileManager.default.fileExists(atPath: deployment.store))
        }

        @Test func fileOfTheEnvironmentThatIsWrongIsNamed() async throws {
            let deployment = try Deployment()
            let result = try await deployment.command(
                "cameo-enqueue data:, --preset gallery",
                environment: ["CAMEO_PRESETS": "/none/presets.json"]
            )
            #expect(result.exitStatus == 2)
            #expect(
                result.errorText.contains("CAMEO_PRESETS /none/presets.json: cannot be read"),
                "\(result.errorText)"
            )
            // No preset is requested, so the file is not read.
            let without = try await deployment.command(
                "cameo-enqueue data:,",
                environment: ["CAMEO_PRESETS": "/none/presets.json"]
            )
            #expect(without.exitStatus == 0)
        }
    }
}
