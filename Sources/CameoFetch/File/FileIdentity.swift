internal import CameoModel
internal import Glibc

/// Which file it is, whatever it is called.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt
    private let inode: UInt

    init(_ status: stat) {
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
    }

    /// - Parameter path: as the kernel takes it, which need not be UTF-8, without a NUL. A link is not followed.
    /// - Throws: the errno of lstat.
    init(ofPath path: [CChar]) throws(Errno) {
        var status = stat()
        guard lstat(path + [0], &status) == 0 else { throw Errno() }
        self.init(status)
    }
}
