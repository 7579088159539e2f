internal import CameoModel
internal import CameoStore
internal import Foundation

/// A directory entry, read from the directory alone: nothing is opened and no link is followed.
struct FolderEntry: Hashable, Sendable {
    enum Kind: Sendable {
        case file, folder, link
        /// A socket, a pipe, a device.
        case special
    }

    let name: String
    let kind: Kind

    /// The entries of a folder, sorted by name.
    ///
    /// - Throws: `Errno`, including `ENOTDIR` for a link to a folder.
    static func all(in path: String) throws(Errno) -> [FolderEntry] {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno() }
        guard let stream = fdopendir(descriptor) else {
            let error = Errno()
            close(descriptor)
            throw error
        }
        defer { closedir(stream) }
        var entries: [FolderEntry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw Errno() }
                return entries.sorted { $0.name < $1.name }
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            entries.append(FolderEntry(name: name, kind: kind(Int(entry.pointee.d_type), "\(path)/\(name)")))
        }
    }

    private static func kind(_ type: Int, _ path: String) -> Kind {
        switch type {
        case DT_REG: .file
        case DT_DIR: .folder
        case DT_LNK: .link
        case DT_UNKNOWN: kind(of: path)
        default: .special
        }
    }

    /// Asks the file itself, because some file systems (XFS without `ftype`) do not record types in directories.
    private static func kind(of path: String) -> Kind {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .special }
        return switch status.st_mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        case S_IFLNK: .link
        default: .special
        }
    }
}
