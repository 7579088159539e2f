internal import CameoModel
internal import Foundation

/// What a path in a folder turns out to be.
enum FoundFile {
    case picture, folder
    /// A file that is no picture, or one that workers open only with `--allow-format`.
    case other
    /// A file that this user may not read.
    case unreadable
    /// Neither file nor folder, or gone.
    case nothing

    init(_ path: [UInt8]) {
        let path = path.map(CChar.init(bitPattern:)) + [0]
        var status = stat()
        guard lstat(path, &status) == 0 else {
            self = .nothing
            return
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: self = .folder
        case S_IFREG: self = Self.file(path)
        case S_IFLNK:
            let isFile = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            self = isFile ? Self.file(path) : .nothing
        default: self = .nothing
        }
    }

    private static func file(_ path: [CChar]) -> FoundFile {
        // Without waiting: a pipe may have taken the file's place.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT ? .nothing : .unreadable }
        guard let format = PictureFormat(sniffing: OpenFile(adopting: descriptor)) else { return .other }
        return PictureFormat.optional.contains(format) ? .other : .picture
    }
}
