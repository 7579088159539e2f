internal import CLinux
internal import CameoModel
internal import Glibc

extension OpenFile {
    /// A folder, as O_PATH.
    static func directory(_ path: String) throws(Errno) -> OpenFile {
        let descriptor = cameo_open_directory_path(path)
        guard descriptor >= 0 else { throw Errno() }
        return OpenFile(adopting: descriptor)
    }

    /// Where the kernel keeps a name for the descriptor.
    var magicLink: String { "/proc/self/fd/\(descriptor)" }

    /// The path by which the kernel knows the file now, without links: any bytes but NUL. Of a deleted file it ends in
    /// " (deleted)".
    func path() throws(Errno) -> [CChar] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink(magicLink, &buffer, buffer.count)
        guard count >= 0 else { throw Errno() }
        return Array(buffer[..<count])
    }

    /// Opens the very file of this O_PATH descriptor for reading, and nothing that took its name since.
    func reopenedForReading() throws(Errno) -> OpenFile {
        let descriptor = Glibc.open(magicLink, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw Errno() }
        return OpenFile(adopting: descriptor)
    }
}
