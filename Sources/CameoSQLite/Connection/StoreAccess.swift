internal import CLinux
internal import CameoModel
internal import Foundation

// DESIGN. A store is private to its user: folders 0700, files 0600. An operator shares one with a group by making its
// folder, with exactly the mode 2770, before the store: what is made in it is then for that group too, and for nobody
// else. The folder decides, not the umask of whichever program comes to make a file, since each has to write what the
// others made. The folder's set-group-ID bit hands its group on; SQLite gives its own files the database's mode.
enum StoreAccess {
    /// Whether what lies in the folder is for its group. Exactly that mode: no other is one that somebody got by chance.
    static func isShared(_ folder: String) -> Bool {
        var status = stat()
        return stat(folder, &status) == 0 && status.st_mode & 0o7777 == 0o2770
    }

    /// Opens a file of the store; if it has to be made, then for whom its folder is.
    static func open(_ path: String, _ flags: Int32) throws(Errno) -> OpenFile {
        let isShared = isShared(URL(filePath: path).deletingLastPathComponent().path)
        let descriptor = Glibc.open(path, flags | O_CLOEXEC, isShared ? 0o660 : 0o600)
        guard descriptor >= 0 else { throw Errno() }
        let file = OpenFile(adopting: descriptor)
        // What a umask took. The file of another user is as that one left it.
        if isShared, let status = file.status(), status.st_uid == geteuid(), status.st_mode & 0o777 != 0o660 {
            guard fchmod(descriptor, 0o660) == 0 else { throw Errno() }
        }
        return file
    }

    /// Makes a folder within the store's unless it is there, for whom the one around it is.
    ///
    /// - Parameters:
    ///   - path: the folder to be.
    ///   - mode: of a shared one, at least. A service may be forbidden to set the set-group-ID bit (RestrictSUIDSGID of
    ///     systemd), which only folders need where files are made; to others they come by being renamed.
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
