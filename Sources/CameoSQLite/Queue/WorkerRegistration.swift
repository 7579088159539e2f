internal import CLinux
internal import CameoModel
internal import CameoStore
internal import Foundation

/// A worker's registration: its row, and the lock on `workers/<id>.lock` that the kernel releases however the process
/// dies (invariant I7).
package final class WorkerRegistration: Sendable {
    package let id: String
    let row: WorkerRow
    private let lock: OpenFile
    private let path: String

    /// Creates and locks the file before any row refers to it.
    ///
    /// - Throws: `Errno`; ``StoreError/refused(reason:)`` for an invalid id.
    init(_ row: WorkerRow, in directory: StoreDirectory) throws {
        guard let path = directory.workerLock(row.id) else {
            throw StoreError.refused(reason: "\"\(row.id)\" is not a valid worker id: 1 to 64 of A-Z a-z 0-9 _ - .")
        }
        id = row.id
        self.row = row
        self.path = path
        lock = try StoreAccess.open(path, O_RDWR | O_CREAT | O_EXCL)
        guard cameo_ofd_lock(lock.descriptor) == 0 else { throw Errno() }
    }

    func removeFile() {
        unlink(path)
    }

    /// Whether a process holds the lock of a worker, checked without taking it; false for an invalid id.
    ///
    /// - Throws: `Errno` if that cannot be determined, for example without a free descriptor; unknown does not mean
    ///   dead.
    static func isAlive(_ worker: String, in directory: StoreDirectory) throws(Errno) -> Bool {
        guard let path = directory.workerLock(worker) else { return false }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return false }
            throw Errno()
        }
        let file = OpenFile(adopting: descriptor)
        let answer = cameo_ofd_is_locked(file.descriptor)
        guard answer >= 0 else { throw Errno() }
        return answer == 1
    }
}

struct WorkerRow: Sendable {
    let id: String
    let host: String
    let pid: Int
    let version: String
    let concurrency: Int
    let renderers: Int
    let rendererVersion: String?
    let quietHours: String?
    let queues: String?
    let lacks: [HostLack]
    let startedAt: Int64
}

/// The identity of this boot. Leases from another boot have expired.
enum BootIdentity {
    static let current: String =
        (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
        .trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"
}
