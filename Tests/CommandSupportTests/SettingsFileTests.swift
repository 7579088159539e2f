import Foundation
import TestSupport
import Testing

@testable import CommandSupport

@Suite(.timeLimit(.minutes(10)))
struct SettingsFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func variables(_ text: String) throws -> [String: String] {
        let path = try folder.write(Data(text.utf8), to: "settings")
        return try SettingsFile.environment(["PATH": "/bin"], for: ["--settings", path], prefix: "CAMEO_")
    }

    /// Editors on Windows end lines with two characters, and begin files with a mark.
    @Test(arguments: ["\n", "\r\n"], ["", "\u{FEFF}"])
    func everyLineCountsWhateverEndsIt(ending: String, mark: String) throws {
        let lines = ["# limits", "CAMEO_ALLOW_ROOT=/srv", "; more", "", "CAMEO_GRACE=\"5s\"", "OTHER=1"]
        let found = try variables(mark + lines.joined(separator: ending))
        #expect(found == ["PATH": "/bin", "CAMEO_ALLOW_ROOT": "/srv", "CAMEO_GRACE": "5s"])
    }

    @Test(arguments: ["\n", "\r\n"])
    func aLineThatSetsNothingIsNamed(ending: String) throws {
        let failure = #expect(throws: CommandFailure.self) {
            try variables(["# limits", "CAMEO_GRACE=5s", "grace 5s"].joined(separator: ending))
        }
        #expect(failure?.messages.joined().contains("line 3 is not NAME=value") == true, "\(failure as Any)")
    }
}
