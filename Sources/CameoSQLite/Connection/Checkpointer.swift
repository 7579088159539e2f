internal import CameoStore
internal import Foundation
internal import GRDB
internal import Synchronization

// DESIGN. SQLite before 3.51.3 can corrupt a database when two connections checkpoint and write at the same time (the
// WAL-reset bug, https://sqlite.org/wal.html#walresetbug). Therefore only one process checkpoints at a time: the holder
// of `checkpoint.lock`, on its writing connection, with TRUNCATE, which holds the write lock while it resets the log.
//
// It also holds the write lock while it waits for readers. A reader that blocks one process blocks all, so none should
// try again before the log has grown by another limit. The length of the log at which to try next is recorded as the
// length of `checkpoint.lock`, a file without content. Other obstacles, such as a writer, are known only to the process
// that met them. A log that is shorter than it was at that time has been emptied since, by any process.
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

    func checkpointIfLogIsLong(_ db: Database) {
        let bytes = length(of: directory.writeAheadLog)
        guard bytes > Self.logLimitOfFullDisk, bytes > limit else { return }
        let tries = [nextTry.load(ordering: .relaxed), length(of: directory.checkpointLock)]
        let isAwaited = tries.contains { next in bytes <= next && bytes >= next - Self.logLimit }
        if !isAwaited { checkpoint(db) }
    }

    /// Whether the log is longer than writers let it become, because a reader was in the way.
    var isLogLong: Bool { length(of: directory.writeAheadLog) > Self.logLimit }

    private var limit: Int {
        BlobFiles.freeBytes(of: directory) < BlobFiles.margin ? Self.logLimitOfFullDisk : Self.logLimit
    }

    /// Moves the log into the database, unless another process is doing so or a reader needs it. This is best effort:
    /// the log is valid as it is, and a later commit tries again.
    func checkpoint(_ db: Database) {
        guard let lock = try? FileLock(directory.checkpointLock) else { return }
        patience.set(milliseconds: Self.patienceForReaders)
        defer { patience.set(milliseconds: Patience.usual) }
        // The row is: blocked or not, pages in the log, pages moved. A reader still uses any pages that were not moved.
        let row = try? Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        let isDone = row.map { ($0[0] as Int) == 0 } ?? false
        let isRead = row.map { !isDone && ($0[2] as Int) < ($0[1] as Int) } ?? false
        let next = isDone ? 0 : length(of: directory.writeAheadLog) + Self.logLimit
        nextTry.store(next, ordering: .relaxed)
        if isDone || isRead { lock.setLength(next) }
    }

    /// Uses stat, which unlike open and close does not affect SQLite's locks.
    private func length(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
