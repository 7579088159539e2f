import CameoModel
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PresetOptionTests {
    private static let file = #"""
        {"presets": {"gallery": {"description": "ours", "renditions": [{"width": 7}]},
                     "mail": {"renditions": [{"name": "inline", "width": 600, "format": "jpeg"}]}}}
        """#

    private func names(_ receipts: [EnqueueReceipt]) -> [String] { receipts.flatMap(\.thumbnails).map(\.name) }

    @Test func presetsAndSizesAreJoinedInTheirOrder() async throws {
        let deployment = try Deployment()
        let receipts = try await deployment.enqueue(
            "a.jpg",
            "--preset",
            "social",
            "--size",
            "9x",
            "--preset",
            "hero",
            "--blur",
            "3"
        )
        #expect(names(receipts) == ["og", "square", "hero-wide", "hero-narrow", "9x"])
        let request = try ThumbnailRequest(parsing: try await deployment.sql("SELECT request FROM job;").utf8)
        let social = try #require(try PresetFile.builtIn()["social"])
        #expect(Array(request.renditions.prefix(2)) == social.renditions)
        #expect(request.renditions.map(\.look.blur) == [nil, nil, nil, nil, 3])
    }

    @Test func uploadMayHaveAPreset() async throws {
        let deployment = try Deployment()
        let receipts = try await deployment.enqueue("--data", "--preset", "gallery", input: Data([1]))
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

    @Test(
        arguments: [
            (["a.jpg", "--preset", "galery"], "--preset galery: there is no such preset (there are avatar"),
            (["a.jpg", "--preset", "gallery", "--blur", "3"], "--blur: needs a --size"),
            (["a.jpg", "--preset", "gallery", "--preset", "gallery"], "\"grid\""),
            (["a.jpg", "--size", "9x", "--size", "9x"], "--size 9x: its rendition \"9x\""),
            (["a.jpg", "--presets", "bad.json"], "--presets needs --preset"),
            (["a.jpg", "--preset", "gallery", "--presets", "none.json"], "--presets none.json: cannot be read"),
            (
                ["a.jpg", "--preset", "gallery", "--presets", "bad.json"],
                "--presets bad.json: presets.a.renditions[0].width"
            ),
            (["--list-presets", "a.jpg"], "--list-presets"),
            (["--list-presets", "--size", "9x"], "--size: --list-presets"),
        ] as [([String], String)]
    )
    func mistakesAreNamed(arguments: [String], message: String) async throws {
        let deployment = try Deployment()
        _ = try deployment.folder.write(
            Data(#"{"presets":{"a":{"renditions":[{"width":0}]}}}"#.utf8),
            to: "bad.json"
        )
        let result = try await deployment.command("cameo-enqueue", arguments)
        #expect(result.exitStatus == 2)
        #expect(result.errorText.contains(message), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: deployment.store))
    }

    @Test func fileOfTheEnvironmentThatIsWrongIsNamed() async throws {
        let deployment = try Deployment()
        let result = try await deployment.command(
            "cameo-enqueue",
            ["data:,", "--preset", "gallery"],
            environment: ["CAMEO_PRESETS": "/none/presets.json"]
        )
        #expect(result.exitStatus == 2)
        #expect(
            result.errorText.contains("CAMEO_PRESETS /none/presets.json: cannot be read"),
            "\(result.errorText)"
        )
        // No preset is requested, so the file is not read.
        let without = try await deployment.command(
            "cameo-enqueue",
            ["data:,"],
            environment: ["CAMEO_PRESETS": "/none/presets.json"]
        )
        #expect(without.exitStatus == 0)
    }
}
