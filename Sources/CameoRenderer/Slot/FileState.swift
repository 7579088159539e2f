internal import CameoModel
internal import Glibc

/// Tells whether a file changed while a child read it through a mapping, where truncation causes SIGBUS.
struct FileState {
    /// Nil for files that cannot be truncated: sealed memory files and anything but regular files.
    private let before: FileSnapshot?

    /// F_GET_SEALS and F_SEAL_SHRINK of fcntl(2), which the Glibc module does not export.
    private static let getSeals: Int32 = 1_034
    private static let sealShrink: Int32 = 0x2

    init(_ file: OpenFile) {
        // -1 (EINVAL) for a file that does not support seals.
        let seals = fcntl(file.descriptor, Self.getSeals)
        guard let status = file.status(), status.st_mode & S_IFMT == S_IFREG,
            seals < 0 || seals & Self.sealShrink == 0
        else {
            before = nil
            return
        }
        before = FileSnapshot(status)
    }

    /// Whether the file, the same as at initialisation, has changed since.
    func hasChanged(_ file: OpenFile) -> Bool {
        guard let before, let status = file.status() else { return false }
        return FileSnapshot(status) != before
    }
}
