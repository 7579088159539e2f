internal import Glibc

/// What tells that a file was written to.
struct FileSnapshot: Equatable, Sendable {
    /// Bytes.
    let size: Int
    private let modified: [Int]
    private let changed: [Int]

    init(_ status: stat) {
        size = Int(status.st_size)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
