internal import CameoModel
package import CameoStore
package import Foundation

/// Writes a report to a new file, or over an earlier one.
package enum ReportFile {
    /// Replaces the contents of a regular file and keeps its mode. Refuses links, devices and everything else that is not a
    /// regular file. Inside the store, accepts only `.html` files at the top level, where `deploy/quickstart` puts its page.
    ///
    /// - Throws: ``ExportError``
    package static func write(_ data: Data, to path: String, store: any Store) throws {
        let absolute = FilePaths.absolute(path)
        let inside =
            absolute.hasPrefix(store.location + "/")
            ? absolute.dropFirst(store.location.count + 1) : nil
        if let inside, inside.contains("/") || !inside.hasSuffix(".html") {
            throw ExportError(path: path, reason: "it belongs to the store")
        }
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw ExportError(path: path, reason: "it exists and is not a regular file")
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o666)
        guard descriptor >= 0 else { throw ExportError(path: path, reason: "\(Errno())") }
        let file = OpenFile(adopting: descriptor)
        do throws(Errno) {
            guard ftruncate(file.descriptor, 0) == 0 else { throw Errno() }
            let failure = data.withUnsafeBytes { bytes -> Errno? in
                do throws(Errno) { try file.write(bytes) } catch { return error }
                return nil
            }
            if let failure { throw failure }
        } catch {
            throw ExportError(path: path, reason: "\(error)")
        }
    }
}
