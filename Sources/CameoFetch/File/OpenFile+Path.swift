internal import CLinux
internal import CameoModel
internal import Glibc

extension OpenFile {
    /// Opens a folder with O_PATH.
    static func directory(_ path: [UInt8]) throws(Errno) -> OpenFile {
        let descriptor = cameo_open_directory_path(path.map(CChar.init(bitPattern:)) + [0])
        guard descriptor >= 0 else { throw Errno() }
        return OpenFile(adopting: descriptor)
    }

    /// The path by which the kernel offers the descriptor.
    var magicLink: String { "/proc/self/fd/\(descriptor)" }

    /// The file's current path without links: any bytes but NUL. The path of a deleted file ends with " (deleted)".
    func path() throws(Errno) -> [CChar] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink(magicLink, &buffer, buffer.count)
        guard count >= 0 else { throw Errno() }
        return Array(buffer[..<count])
    }

    /// Opens the file of this O_PATH descriptor for reading, even if another file has its name by now.
    func reopenedForReading() throws(Errno) -> OpenFile {
        let descriptor = Glibc.open(magicLink, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw Errno() }
        return OpenFile(adopting: descriptor)
    }
}
