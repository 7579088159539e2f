internal import CameoModel
internal import Foundation

/// What can be seen to be wrong with a source before anything is enqueued. What cannot be seen, as a file that only the
/// worker's user may look at, is the worker's to judge.
package enum SourceFault {
    /// The end of a sentence that the source's name begins; nil for what may work.
    package static func of(_ source: String, missing: MissingFiles) -> String? {
        switch URIScheme.of(source) {
        case "http", "https", "data", "cameo", "initials": nil
        case "file": ofFile(source, missing)
        case nil where PlainBase64.matches(source): nil
        case nil: "has no scheme; a file of this machine is written file:///folder/picture.jpg"
        case let scheme?:
            "\(scheme): is no scheme that Cameo reads; it reads file:, http:, https:, data:, cameo: and initials:"
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
            return "there is no such file (--allow-missing enqueues it all the same)"
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return nil
        case S_IFDIR: return "is a folder; name a picture in it, or give -r for all of them"
        default: return "is no regular file"
        }
    }
}
