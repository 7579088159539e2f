internal import CameoModel
internal import Foundation
internal import Glibc

extension OpenFile {
    /// Creates an empty file that only this process can open, and that ends with its last reference.
    static func unnamed(in folder: String) throws(Errno) -> OpenFile {
        let path = "\(folder)/cameo-\(UUID().uuidString)"
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Errno() }
        let file = OpenFile(adopting: descriptor)
        guard unlink(path) == 0 else { throw Errno() }
        return file
    }
}
