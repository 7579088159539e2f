internal import CameoModel
package import CameoStore
internal import CameoSystem
package import Foundation

/// Writes a report to a new file, or over an earlier one.
package enum ReportFile {
    /// Replaces the contents of a regular file and keeps its mode. Refuses links, devices and everything else that is not a
    /// regular file. Inside the store, accepts only `.html` files at the top level, where `deploy/quickstart` puts its page.
    ///
    /// - Throws: ``ExportError``
    package static func write(_ data: Data, to path: String, store: any AnyStore) throws {
        try check(path, store: store)
        do throws(Errno) {
            let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
            let file = try OpenFile(opened: open(path, flags, 0o666))
            guard ftruncate(file.descriptor, 0) == 0 else { throw Errno() }
            try file.write(data)
        } catch {
            throw ExportError(path: path, reason: "\(error)")
        }
    }

    /// Replaces a file in one step: a reader sees the earlier contents or the new ones, never a part. Refuses what
    /// ``write(_:to:store:)`` refuses.
    ///
    /// - Throws: ``ExportError``
    package static func replace(_ path: String, with data: Data, store: any AnyStore) throws {
        try check(path, store: store)
        try replace(path, by: "\(path).\(getpid()).new", with: data)
    }

    /// Writes a new file in a folder, and then puts it in the place of another one there.
    static func replace(
        _ name: String,
        by new: String,
        in folder: CInt = AT_FDCWD,
        with data: Data
    ) throws(ExportError) {
        let descriptor = openat(folder, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw ExportError(path: name, reason: "\(Errno())") }
        do throws(Errno) {
            try OpenFile(adopting: descriptor).write(data)
            guard renameat(folder, new, folder, name) == 0 else { throw Errno() }
        } catch {
            unlinkat(folder, new, 0)
            throw ExportError(path: name, reason: "\(error)")
        }
    }

    private static func check(_ path: String, store: any AnyStore) throws(ExportError) {
        let absolute = FilePaths.absolute(path)
        if let folder = store.folder, absolute.hasPrefix(folder + "/"),
            case let inside = absolute.dropFirst(folder.count + 1), inside.contains("/") || !inside.hasSuffix(".html")
        {
            throw ExportError(path: path, reason: "it belongs to the store")
        }
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw ExportError(path: path, reason: "it exists and is not a regular file")
        }
    }
}
