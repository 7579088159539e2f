import CameoModel
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PresetTests {
    @Test func builtInPresetsAreTheExample() throws {
        let example = try Data(contentsOf: Repository.file("proto-json/examples/presets/built-in.json"))
        #expect(try PresetFile.builtIn() == PresetFile(parsing: example))
    }

    @Test func everyBuiltInPresetHasADescriptionAndCombinesWithAnyOther() throws {
        let presets = try PresetFile.builtIn().all
        #expect(presets.count >= 5)
        #expect(presets.allSatisfy { $0.description != nil })
        let all = ThumbnailRequest(source: "data:,", renditions: presets.flatMap(\.renditions))
        #expect(throws: Never.self) { try all.validate() }
    }

    @Test func presetFromAFileReplacesTheOneWithItsName() throws {
        let text = #"{"presets":{"gallery":{"renditions":[{"width":7}]},"mine":{"renditions":[{"height":8}]}}}"#
        let builtIn = try PresetFile.builtIn()
        let joined = builtIn.replaced(by: try PresetFile(parsing: text.utf8))
        #expect(joined["gallery"]?.renditions == [Rendition(width: 7)])
        #expect(joined["gallery"]?.description == nil)
        #expect(joined["mine"]?.renditions == [Rendition(height: 8)])
        #expect(joined["social"] == builtIn["social"])
        #expect(joined["none"] == nil)
        #expect(joined.all.map(\.name) == (builtIn.all.map(\.name) + ["mine"]).sorted())
    }

    @Test func fileOverItsByteLimitIsRefused() throws {
        let frame = #"{"presets":{}}"#
        let largest = frame + String(repeating: " ", count: PresetFile.maximumBytes - frame.utf8.count)
        #expect(throws: Never.self) { try PresetFile(parsing: largest.utf8) }
        let error = try #require(throws: InvalidRequest.self) { try PresetFile(parsing: (largest + " ").utf8) }
        #expect(error.description == "has 1048577 bytes, more than 1048576")
    }

    /// The file and the program of `proto-json/README.md`, as a program in another language would use them.
    @Test func readmesProgramMakesARequestOfThePreset() async throws {
        let readme = try String(contentsOf: Repository.file("proto-json/README.md"), encoding: .utf8)
        let section = readme[try #require(readme.range(of: "## Presets\n")).upperBound...]
        let file = try #require(section.firstMatch(of: #/(?s)```json\n(.*?)```/#)).output.1
        let program = try #require(section.firstMatch(of: #/(?s)```python\n(.*?)```/#)).output.1
        let folder = try TemporaryFolder()
        try folder.write(Data(file.utf8), to: "presets.json")
        let result = try await run(
            "/usr/bin/python3",
            ["-"],
            input: Data("\(program)print(json.dumps(request))".utf8),
            currentDirectory: folder.url
        )
        #expect(result.exitStatus == 0, "\(result.errorText)")
        let request = try ThumbnailRequest(parsing: result.standardOutput)
        #expect(try PresetFile(parsing: file.utf8)["card"]?.renditions == request.renditions)
    }
}
