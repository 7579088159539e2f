internal import CLinux
internal import CameoModel
internal import CameoStore
internal import Foundation

/// A lock between processes on a dedicated file, held until the value is released or the process ends.
final class FileLock: Sendable {
    private let file: OpenFile

    /// - Throws: `Errno(EAGAIN)` if another process holds the lock.
    init(_ path: String) throws(Errno) {
        file = try StoreAccess.open(path, O_RDWR | O_CREAT)
        guard cameo_ofd_lock(file.descriptor) == 0 else { throw Errno() }
    }

    /// Stores a number as the file's length, which other processes can read. Best effort.
    func setLength(_ bytes: Int) { _ = ftruncate(file.descriptor, off_t(bytes)) }

    /// Waits up to `patience` milliseconds for the lock and runs the body under it; `orElse` runs if the holder, which
    /// may be frozen, did not release it. Blocks the thread.
    static func hold<Value>(
        _ path: String,
        within patience: Int64,
        _ body: () throws -> Value,
        orElse refuse: () throws -> Value
    ) throws -> Value {
        let deadline = cameo_monotonic_ms() + patience
        while true {
            if let lock = try ifFree(path) {
                defer { withExtendedLifetime(lock) {} }
                return try body()
            }
            guard cameo_monotonic_ms() < deadline else { return try refuse() }
            poll(nil, 0, 2)
        }
    }

    /// Takes the lock; nil if another process holds it.
    static func ifFree(_ path: String) throws(Errno) -> FileLock? {
        do throws(Errno) {
            return try FileLock(path)
        } catch {
            guard error.code == EAGAIN else { throw error }
            return nil
        }
    }
}
