import CameoModel
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `cameo-worker --formats`.
    @Suite(.timeLimit(.minutes(10)))
    struct FormatListTests {
        @Test(arguments: [true, false])
        func allContainersAndCodecsAreListed(framesAreThere: Bool) async throws {
            let folder = try TemporaryFolder()
            let frames = framesAreThere ? "/bin/true" : folder.path("none")
            let worker = try Deployment.executable("cameo-worker")
            let result = try await run(worker, ["--formats", "--json", "--frames", frames])
            #expect(result.exitStatus == 0, "\(result.errorText)")
            let rows = try JSONDecoder().decode([[String: String]].self, from: result.standardOutput)
            let names = rows.compactMap { $0["format"] }
            #expect(names.starts(with: ["JPEG", "PNG"]))
            for name in VideoContainer.allCases.map(\.name) { #expect(names.contains(name), "\(name)") }
            for codec in VideoFacts.Codec.allCases {
                let row = rows.first { $0["format"]?.hasPrefix("\(codec.rawValue) ") == true }
                #expect(row?["reads"] == (framesAreThere ? "yes" : "no"), "\(codec)")
                #expect(row?["remedy"] == (framesAreThere ? "" : "cameo-frames"))
            }
            let table = try await run(worker, ["--formats", "--frames", frames])
            #expect(table.outputText.hasPrefix("FORMAT\tREADS\tWRITES\tREMEDY\nJPEG\tyes\tyes\t"))
            #expect(table.outputText.split(separator: "\n").count == rows.count + 1)
        }
    }
}
