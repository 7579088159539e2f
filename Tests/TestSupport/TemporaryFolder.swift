package import Foundation

/// A folder of one test, removed with everything in it when the last reference goes.
package final class TemporaryFolder: Sendable {
    package let url: URL

    /// Makes it in `parent`, such as a file system in memory, or in the usual place if that does not exist.
    package init(in parent: String? = nil) throws {
        let usual = FileManager.default.temporaryDirectory
        let place = parent.flatMap { FileManager.default.fileExists(atPath: $0) ? URL(filePath: $0) : nil } ?? usual
        url = place.resolvingSymlinksInPath().appending(path: "cameo-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package var path: String { url.path }

    package func path(_ name: String) -> String { url.appending(path: name).path }

    package func uri(of name: String) -> String { "file://\(path)/\(name)" }

    /// Writes a file, in folders that it makes.
    @discardableResult
    package func write(_ data: Data, to name: String) throws -> String {
        try FileManager.default.createDirectory(
            at: url.appending(path: name).deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try data.write(to: url.appending(path: name))
        return path(name)
    }

    @discardableResult
    package func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        return path(name)
    }
}
