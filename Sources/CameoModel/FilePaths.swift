internal import Foundation

/// Paths as the system sees them. Foundation's standardisation turns a leading `~` into a home folder, which is the
/// shell's business: a file may be called so.
package enum FilePaths {
    /// Absolute, with `.`, `..` and doubled slashes resolved by their text; links are left alone.
    package static func absolute(_ path: String) -> String {
        let full = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        var parts: [Substring] = []
        for part in full.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}
