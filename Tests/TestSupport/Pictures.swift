internal import Foundation

/// Pictures for tests, made by libvips' own command-line tools when first asked for: once for all processes of a run of
/// deploy/test, and once for a process that runs alone.
package actor Pictures {
    /// A libvips tool that did not do what a test needs (is `libvips-tools` installed?).
    package struct ToolFailed: Error, CustomStringConvertible {
        package let command: [String]
        package let error: String

        package var description: String { "\(command.joined(separator: " ")): \(error)" }
    }

    private static let shared = Pictures()
    /// Where the processes of a run have their pictures in common.
    private static let common = ProcessInfo.processInfo.environment["CAMEO_TEST_PICTURES"]

    private var folder: TemporaryFolder?
    private var files: [String: Task<String, any Error>] = [:]

    /// The path of the picture of this name, whose ending chooses the format. `make` writes the file to the path that it
    /// is given; it is called at most once a name.
    static func file(
        _ name: String,
        make: @escaping @Sendable (_ path: String) async throws -> Void
    ) async throws -> String {
        try await shared.file(name, make).value
    }

    private func file(
        _ name: String,
        _ make: @escaping @Sendable (String) async throws -> Void
    ) throws -> Task<String, any Error> {
        if let file = files[name] { return file }
        let folder = try self.folder ?? TemporaryFolder()
        self.folder = folder
        let path = folder.path(name)
        let file = Task {
            let common = Self.common.map { "\($0)/\(name)" }
            if let common, FileManager.default.fileExists(atPath: common) { return common }
            try await make(path)
            // Of two processes that make it at once, either may be the last: it is the same picture.
            if let common, rename(path, common) == 0 { return common }
            return path
        }
        files[name] = file
        return file
    }

    /// Runs one operation of libvips, as in `vips("copy", "a.png", "b.jpg")`.
    @discardableResult
    package static func vips(_ words: String...) async throws -> String {
        try await tool("vips", words)
    }

    /// Runs one of libvips' tools (`vips`, `vipsheader`, `vipsthumbnail`) and returns what it printed.
    @discardableResult
    package static func tool(_ name: String, _ words: [String]) async throws -> String {
        let result = try await run(name, words)
        guard result.exitStatus == 0 else {
            throw ToolFailed(command: [name] + words, error: result.errorText)
        }
        return result.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
