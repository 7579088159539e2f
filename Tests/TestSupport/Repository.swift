package import Foundation

/// Where the sources of this checkout are.
package enum Repository {
    package static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// A program of this package that was built beside the running tests.
    package static func builtProduct(_ name: String) -> String {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: name).path
    }

    /// A file by its path from the root, as `proto-json/README.md`.
    package static func file(_ path: String) -> URL { root.appending(path: path) }
}
