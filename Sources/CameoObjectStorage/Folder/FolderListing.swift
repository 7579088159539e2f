internal import CameoModel
internal import Glibc

/// The contents of folders.
enum FolderListing {
    /// The names in a folder but `.` and `..`, sorted.
    ///
    /// - Throws: `Errno`, including `ENOTDIR` for a link to a folder.
    static func names(in path: String) throws(Errno) -> [String] {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno() }
        guard let stream = fdopendir(descriptor) else {
            let error = Errno()
            close(descriptor)
            throw error
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw Errno() }
                return names.sorted()
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }
}
