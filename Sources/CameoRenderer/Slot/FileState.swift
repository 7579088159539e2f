internal import CameoModel
internal import Glibc

/// Whether somebody changed a file while a child read it through a mapping, where a cut ends as SIGBUS.
struct FileState {
    /// Nil for what cannot be cut: a sealed memory file, or no regular file at all.
    private let before: FileSnapshot?

    /// fcntl(2): F_GET_SEALS and F_SEAL_SHRINK, which Glibc's module does not show.
    private static let getSeals: Int32 = 1_034
    private static let sealShrink: Int32 = 0x2

    init(_ file: OpenFile) {
        // -1 for a file that has no seals, EINVAL.
        let seals = fcntl(file.descriptor, Self.getSeals)
        guard let status = file.status(), status.st_mode & S_IFMT == S_IFREG,
            seals < 0 || seals & Self.sealShrink == 0
        else {
            before = nil
            return
        }
        before = FileSnapshot(status)
    }

    /// Asked of the file that this is the state of.
    func hasChanged(_ file: OpenFile) -> Bool {
        guard let before, let status = file.status() else { return false }
        return FileSnapshot(status) != before
    }
}
