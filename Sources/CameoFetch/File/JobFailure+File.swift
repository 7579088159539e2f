internal import CameoModel
internal import Glibc

extension JobFailure {
    /// The failure for an error number of opening a file.
    static func fetch(openingFile name: String, _ errno: Errno) -> JobFailure {
        switch errno.code {
        case ENOENT, ENOTDIR: .fetch(.sourceNotFound, "\(name) does not exist")
        case EACCES, EPERM: .fetch(.sourceForbidden, "\(name) may not be read by this user: \(errno)")
        case ELOOP, ENAMETOOLONG, ENXIO, ENODEV: .fetch(.sourceInvalid, "\(name) cannot be opened: \(errno)")
        case _ where errno.isShortage: .fetch(name, lacking: errno)
        case EWOULDBLOCK: .fetch(.sourceChanged, "\(name) is leased to a program that writes it")
        default: .fetch(.sourceUnreachable, "\(name) cannot be opened: \(errno)")
        }
    }

    /// The failure for a file that was opened but could not be read, for example from a network file system.
    static func fetch(readingFile name: String, _ errno: Errno) -> JobFailure {
        errno.isShortage
            ? .fetch(name, lacking: errno) : .fetch(.sourceUnreachable, "\(name) cannot be read: \(errno)")
    }
}
