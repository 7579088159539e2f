import Foundation
import TestSupport

/// Units and drop-ins as the pages show them, beside the units of `deploy/systemd`. Each begins with its path.
struct Units {
    private let folder = Result { try TemporaryFolder() }
    private let blocks: [String]

    init(_ blocks: [String]) { self.blocks = blocks }

    /// What systemd finds wrong with them.
    func complaints() async throws -> String {
        let folder = try folder.get()
        let bin = URL(filePath: try Deployment.executable("cameo-enqueue")).deletingLastPathComponent().path
        func write(_ text: String, _ name: String) throws {
            let here = text.replacing("ExecStart=/usr/bin/cameo-", with: "ExecStart=\(bin)/cameo-")
            let parent = URL(filePath: folder.path(name)).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
            try folder.write(Data(here.utf8), to: name)
        }
        let ours = Repository.file("deploy/systemd")
        for name in try FileManager.default.contentsOfDirectory(atPath: ours.path) where name.contains("@.") {
            try write(try String(contentsOf: ours.appending(path: name), encoding: .utf8), name)
        }
        var units: Set<String> = []
        for block in blocks {
            guard let name = block.firstMatch(of: #/^# \/etc\/systemd\/system\/(\S+)\n/#)?.output.1 else {
                return "no path begins \(block)"
            }
            try write(block, String(name))
            units.insert(
                folder.path(
                    name.firstMatch(of: #/^(.+)\.d\/[a-z]+\.conf$/#).map { String($0.output.1) } ?? String(name)
                )
            )
        }
        return try await Self.complaints(about: units.sorted())
    }

    /// What systemd finds wrong with units. It also reads those of the system, which are not ours.
    static func complaints(about units: [String]) async throws -> String {
        let result = try await run("systemd-analyze", ["verify", "--man=no"] + units)
        let words = "\(result.errorText)\(result.outputText)".split(separator: "\n")
            .filter { !$0.contains("/lib/systemd/system/") && !$0.allSatisfy(\.isWhitespace) }
            .joined(separator: "\n")
        return words.isEmpty && result.exitStatus != 0 ? "exit \(result.exitStatus)" : words
    }
}
