// Which of the two modules timespec counts as a part of depends on what else a build has read.
internal import CLinux
package import Glibc

/// What tells that a file was written to: its size, and when its bytes and its inode changed.
package struct FileSnapshot: Hashable, Sendable {
    /// Bytes.
    package let size: Int
    private let modified: [Int]
    private let changed: [Int]

    package init(_ status: stat) {
        size = Int(status.st_size)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
