internal import CameoModel
internal import Glibc

extension JobFailure {
    /// What an error number of opening a file means.
    static func fetch(openingFile name: String, _ errno: Errno) -> JobFailure {
        switch errno.code {
        case ENOENT, ENOTDIR: .fetch(.sourceNotFound, "\(name) does not exist")
        case EACCES, EPERM: .fetch(.sourceForbidden, "\(name) may not be read by this user: \(errno)")
        case ELOOP, ENAMETOOLONG, ENXIO, ENODEV: .fetch(.sourceInvalid, "\(name) cannot be opened: \(errno)")
        case EMFILE, ENFILE, ENOMEM: .fetch(name, lacking: errno)
        case EWOULDBLOCK: .fetch(.sourceChanged, "\(name) is leased to a program that writes it")
        default: .fetch(.sourceUnreachable, "\(name) cannot be opened: \(errno)")
        }
    }

    /// The file was there; its file system, a network's perhaps, did not deliver it.
    static func fetch(readingFile name: String, _ errno: Errno) -> JobFailure {
        .fetch(.sourceUnreachable, "\(name) cannot be read: \(errno)")
    }
}
