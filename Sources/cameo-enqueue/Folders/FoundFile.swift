internal import CameoModel
internal import Foundation

/// The kind of a path found in a folder.
enum FoundFile {
    case picture, folder
    /// A file that is not a picture, or one that workers open only with `--allow-format`.
    case other
    /// A file that this user cannot read.
    case unreadable
    /// A path that is neither a file nor a folder, or is gone.
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
        // O_NONBLOCK, because a pipe may have taken the file's place.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT ? .nothing : .unreadable }
        guard let format = PictureFormat(sniffing: OpenFile(adopting: descriptor)) else { return .other }
        return PictureFormat.optional.contains(format) ? .other : .picture
    }
}
