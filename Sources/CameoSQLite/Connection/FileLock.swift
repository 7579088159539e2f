internal import CLinux
internal import CameoModel
internal import CameoStore
internal import Foundation

/// A lock between processes, on a file made for it: held until the value goes, or the process ends.
final class FileLock: Sendable {
    private let file: OpenFile

    /// Throws `Errno(EAGAIN)` if another holds it.
    init(_ path: String) throws(Errno) {
        file = try StoreAccess.open(path, O_RDWR | O_CREAT)
        guard cameo_ofd_lock(file.descriptor) == 0 else { throw Errno() }
    }

    /// Leaves a number with the lock, for whoever asks the file for its length. Best effort.
    func setLength(_ bytes: Int) { _ = ftruncate(file.descriptor, off_t(bytes)) }

    /// Waits for the lock and runs the body under it. Blocks its thread, for as long as the holder takes.
    static func hold<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        let lock = try waitFor(path)
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    private static func waitFor(_ path: String) throws(Errno) -> FileLock {
        while true {
            do throws(Errno) {
                return try FileLock(path)
            } catch {
                guard error.code == EAGAIN || error.code == EACCES else { throw error }
                poll(nil, 0, 2)
            }
        }
    }
}
