internal import CameoModel
internal import Glibc

/// Identifies a file independently of its path.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt
    private let inode: UInt

    init(_ status: stat) {
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
    }

    /// - Parameter path: the bytes of a path, not necessarily UTF-8, without a NUL. Links are not followed.
    /// - Throws: the errno of lstat.
    init(ofPath path: [CChar]) throws(Errno) {
        var status = stat()
        guard lstat(path + [0], &status) == 0 else { throw Errno() }
        self.init(status)
    }
}
