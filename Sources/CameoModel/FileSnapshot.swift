// Which of the two modules owns timespec depends on the order in which a build loads them.
internal import CLinux
package import Glibc

/// A file's size and its modification and change times: if they differ, the file was written to.
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
