internal import CLinux
internal import CameoModel
internal import CameoStore
internal import Foundation

/// A worker's presence in the store: its row, and the lock on `workers/<id>.lock` that the kernel frees when the process
/// dies, however it dies (invariant I7).
package final class WorkerRegistration: Sendable {
    package let id: String
    let row: WorkerRow
    private let lock: OpenFile
    private let path: String

    /// Creates and locks the file, before any row names it.
    ///
    /// - Throws: `Errno`; ``StoreError/refused(reason:)`` for an id that is none.
    init(_ row: WorkerRow, in directory: StoreDirectory) throws {
        guard let path = directory.workerLock(row.id) else {
            throw StoreError.refused(reason: "\"\(row.id)\" is no id of a worker: 1 to 64 of A-Z a-z 0-9 _ - .")
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

    /// Whether some process holds the lock of a worker; asked without taking it. What is no id nobody has.
    ///
    /// - Throws: if that cannot be told, as without a free descriptor: not to know is not to be dead.
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

/// What the table tells of a worker.
struct WorkerRow: Sendable {
    let id: String
    let host: String
    let pid: Int
    let version: String
    let concurrency: Int
    let startedAt: Int64
}

/// This start of the machine: leases of another start are over.
enum BootIdentity {
    static let current: String =
        (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
        .trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"
}
