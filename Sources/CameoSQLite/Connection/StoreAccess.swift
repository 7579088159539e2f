internal import CLinux
internal import CameoModel
internal import Foundation

// DESIGN. A store is private to its user: folders 0700, files 0600. To share one with a group, an operator creates its
// folder with exactly the mode 2770 before the store exists; everything created in it is then accessible to that group
// and to nobody else. The folder decides, not the umask of the program that happens to create a file, because each user
// must be able to write what the others created. The folder's set-group-ID bit passes its group on; SQLite gives its
// own files the database's mode.
enum StoreAccess {
    /// Whether the folder's contents are shared with its group. Only this exact mode counts, because nobody gets it by
    /// accident.
    static func isShared(_ folder: String) -> Bool {
        var status = stat()
        return stat(folder, &status) == 0 && status.st_mode & 0o7777 == 0o2770
    }

    /// Opens a file of the store. A new file gets the access that its folder implies.
    static func open(_ path: String, _ flags: Int32) throws(Errno) -> OpenFile {
        let isShared = isShared(URL(filePath: path).deletingLastPathComponent().path)
        let descriptor = Glibc.open(path, flags | O_CLOEXEC, isShared ? 0o660 : 0o600)
        guard descriptor >= 0 else { throw Errno() }
        let file = OpenFile(adopting: descriptor)
        // Restores what a umask removed. Another user's file is left as it is.
        if isShared, let status = file.status(), status.st_uid == geteuid(), status.st_mode & 0o777 != 0o660 {
            guard fchmod(descriptor, 0o660) == 0 else { throw Errno() }
        }
        return file
    }

    /// Creates a folder in the store unless it exists, with the access that its parent implies.
    ///
    /// - Parameters:
    ///   - path: the folder to create.
    ///   - mode: the minimum mode of a shared folder. A service may be forbidden to set the set-group-ID bit
    ///     (RestrictSUIDSGID of systemd). Only folders in which files are created need it, not those into which they
    ///     are renamed.
    /// - Throws: `Errno`
    static func makeFolder(_ path: String, sharedAs mode: mode_t = 0o2770) throws(Errno) {
        let isShared = isShared(URL(filePath: path).deletingLastPathComponent().path)
        guard mkdir(path, isShared ? 0o770 : 0o700) == 0 else {
            if errno == EEXIST { return }
            throw Errno()
        }
        var status = stat()
        guard isShared, stat(path, &status) == 0, status.st_mode & mode != mode else { return }
        guard chmod(path, mode) == 0 else { throw Errno() }
    }
}
