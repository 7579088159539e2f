internal import CameoModel
internal import Foundation

/// Finds mistakes in a source before anything is enqueued. What this process cannot see, such as a file that only the
/// worker's user may access, is left to the worker.
package enum SourceFault {
    /// A predicate that completes a sentence beginning with the source's name; nil if the source may work.
    package static func of(_ source: String, missing: MissingFiles) -> String? {
        switch URIScheme.of(source) {
        case "http", "https", "data", "cameo", "initials": nil
        case "file": ofFile(source, missing)
        case nil where PlainBase64.matches(source): nil
        case nil: "has no scheme; write a local file as file:///folder/picture.jpg"
        case let scheme?:
            "uses the unknown scheme \(scheme):; known are file:, http:, https:, data:, cameo: and initials:"
        }
    }

    private static func ofFile(_ source: String, _ missing: MissingFiles) -> String? {
        let path: [UInt8]
        do throws(InvalidRequest) {
            path = try FileURI(parsing: source).path
        } catch {
            return error.reason
        }
        var status = stat()
        guard stat(path.map(CChar.init(bitPattern:)) + [0], &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR, missing == .refused else { return nil }
            return "there is no such file (--allow-missing enqueues it anyway)"
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return nil
        case S_IFDIR: return "is a folder; name a picture in it, or add -r for all pictures in it"
        default: return "is not a regular file"
        }
    }
}

/// Whether missing files are accepted as sources: they may appear later, or exist on the worker's machine only.
package enum MissingFiles: Sendable {
    case refused, allowed
}
