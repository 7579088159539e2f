internal import CLinux
internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import CameoSystem
internal import Foundation
internal import Synchronization

/// A lock between processes on a dedicated file, held until the value is released or the process ends.
final class FileLock: Sendable {
    private let file: OpenFile

    /// - Throws: `Errno(EAGAIN)` if another process holds the lock; `Errno(EEXIST)` for a file that is there and should be new.
    init(_ path: String, flags: Int32 = O_RDWR | O_CREAT) throws(Errno) {
        file = try StoreAccess.open(path, flags)
        guard cameo_ofd_lock(file.descriptor) == 0 else { throw Errno() }
    }

    /// Stores a number as the file's length, which other processes can read. Best effort.
    func setLength(_ bytes: Int) { _ = ftruncate(file.descriptor, off_t(bytes)) }

    /// Takes the lock, after waiting up to `patience` milliseconds; nil if another process, which may be frozen, still holds
    /// it. Blocks the thread.
    static func ifFree(_ path: String, within patience: Int64 = 0) throws(Errno) -> FileLock? {
        let deadline = cameo_monotonic_ms() + patience
        while true {
            do throws(Errno) {
                return try FileLock(path)
            } catch {
                guard error.code == EAGAIN else { throw error }
                guard cameo_monotonic_ms() < deadline else { return nil }
            }
            poll(nil, 0, 2)
        }
    }
}

// DESIGN. Each available job wakes every worker that has room. If all of them waited for the write lock, the settlements
// of running jobs would stand behind claims that find nothing. So of the processes whose last claim found nothing, one at
// a time waits for the lock, and the others look meanwhile whether there is still something to claim. The kernel releases
// the turn of a process that has died.

/// The right to wait for the write lock in order to claim jobs after a claim that found none. One process at a time has it.
final class ClaimTurn: Sendable {
    /// The time in milliseconds after which a process claims without the turn, because its holder may be frozen.
    private static let courtesy: Int64 = 1_000
    /// The time between two tries.
    static let pause = Duration.milliseconds(4)

    private let path: String
    private let lastClaimWasInVain = Atomic(false)

    /// Creates the file, which shows that the store is not a new one.
    init(_ path: String) throws(Errno) {
        _ = try StoreAccess.open(path, O_RDWR | O_CREAT)
        self.path = path
    }

    /// Whether a claim that has lasted this long, in milliseconds, must wait for the turn.
    func isNeeded(after waited: Int64) -> Bool {
        lastClaimWasInVain.load(ordering: .relaxed) && waited < Self.courtesy
    }

    func note(found: Bool) { lastClaimWasInVain.store(!found, ordering: .relaxed) }

    /// Takes the turn if it is free, until the value is released. A lock that fails otherwise counts as taken, which costs
    /// ``courtesy``: without its file the store may be gone.
    func take() -> FileLock? { try? FileLock(path, flags: O_RDWR) }
}

// DESIGN. SQLite before 3.51.3 can corrupt a database when two connections checkpoint and write at the same time (the
// WAL-reset bug, https://sqlite.org/wal.html#walresetbug). Therefore only one process checkpoints at a time: the holder
// of `checkpoint.lock`, on its writing connection, with TRUNCATE, which holds the write lock while it resets the log.
//
// It also holds the write lock while it waits for readers. A reader that blocks one process blocks all, so none should
// try again before the log has grown by another limit: the length at which to try next is that of `checkpoint.lock`, a
// file without content. Other obstacles, such as a writer, are known only to the process that met them. A log that is
// shorter than it was at that time has been emptied since, by any process.
final class Checkpointer: Sendable {
    /// The length of the log in bytes that triggers a checkpoint. The longer the log, the more changes to a page are
    /// combined into one write.
    private static let logLimit = 8 * 1_048_576
    /// The limit when disk space is low: moving the log into the database needs space itself, and the space that it
    /// frees lets jobs record that the disk is full.
    private static let logLimitOfFullDisk = logLimit / 8
    /// How long to wait for readers that still use the log, in milliseconds; a later commit tries again.
    private static let patienceForReaders: Int64 = 100

    private let directory: StoreDirectory
    private let patience: Patience
    /// The length of the log in bytes at which this process tries again after an obstacle.
    private let nextTry = Atomic<Int>(0)

    init(directory: StoreDirectory, patience: Patience) {
        self.directory = directory
        self.patience = patience
    }

    func checkpointIfLogIsLong(_ db: SQLiteConnection) {
        let bytes = StoreAccess.size(of: directory.writeAheadLog)
        guard
            bytes > Self.logLimit
                || bytes > Self.logLimitOfFullDisk && BlobFiles.freeBytes(of: directory) < BlobFiles.margin
        else { return }
        let tries = [nextTry.load(ordering: .relaxed), StoreAccess.size(of: directory.checkpointLock)]
        let isAwaited = tries.contains { next in bytes <= next && bytes >= next - Self.logLimit }
        if !isAwaited { checkpoint(db) }
    }

    /// Whether the log is longer than writers let it become, because a reader was in the way.
    var isLogLong: Bool { StoreAccess.size(of: directory.writeAheadLog) > Self.logLimit }

    /// Moves the log into the database, unless another process is doing so or a reader needs it. This is best effort:
    /// the log is valid as it is, and a later commit tries again.
    func checkpoint(_ db: SQLiteConnection) {
        guard let lock = try? FileLock(directory.checkpointLock) else { return }
        patience.set(milliseconds: Self.patienceForReaders)
        defer { patience.set(milliseconds: Patience.usual) }
        // A reader still uses any pages of the log that were not moved.
        let row = try? db.rows("PRAGMA wal_checkpoint(TRUNCATE)").first
        let (busy, pages, moved): (Int?, Int?, Int?) =
            (try? row?["busy"], try? row?["log"], try? row?["checkpointed"])
        let isDone = busy == 0
        let isRead = !isDone && (moved ?? 0) < (pages ?? 0)
        let next = isDone ? 0 : StoreAccess.size(of: directory.writeAheadLog) + Self.logLimit
        nextTry.store(next, ordering: .relaxed)
        if isDone || isRead { lock.setLength(next) }
    }
}
