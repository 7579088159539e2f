import Foundation

/// A folder for one test, removed with its last reference.
final class TemporaryFolder: Sendable {
    /// Without links.
    let path: String

    init() throws {
        let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        path = base.appending(path: "cameo-fetch-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func path(of name: String) -> String { "\(path)/\(name)" }

    func uri(of name: String) -> String { "file://\(path)/\(name)" }

    @discardableResult
    func write(_ bytes: Data, to name: String) throws -> String {
        let url = URL(filePath: path(of: name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: url)
        return url.path
    }

    func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: path(of: name), withIntermediateDirectories: true)
        return path(of: name)
    }
}
