internal import CLinux
internal import CameoModel
internal import Foundation

/// A worker's presence in the store: its row, and the lock on `workers/<id>.lock` that the kernel frees when the process
/// dies, however it dies (invariant I7).
package final class WorkerRegistration: Sendable {
    package let id: String
    private let lock: OpenFile
    private let path: String

    /// Creates and locks the file, before any row names it.
    init(id: String, in directory: StoreDirectory) throws {
        self.id = id
        path = directory.workerLock(id)
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Errno() }
        lock = OpenFile(adopting: descriptor)
        guard cameo_ofd_lock(lock.descriptor) == 0 else { throw Errno() }
    }

    func removeFile() {
        unlink(path)
    }

    /// Whether some process holds the lock of a worker; asked without taking it.
    static func isAlive(_ worker: String, in directory: StoreDirectory) -> Bool {
        let descriptor = open(directory.workerLock(worker), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        let file = OpenFile(adopting: descriptor)
        return cameo_ofd_is_locked(file.descriptor) == 1
    }
}

/// This start of the machine: leases of another start are over.
enum BootIdentity {
    static let current: String =
        (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
        .trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"
}
