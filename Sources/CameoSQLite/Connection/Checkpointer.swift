internal import CameoStore
internal import Foundation
internal import GRDB
internal import Synchronization

// DESIGN. SQLite before 3.51.3 can corrupt a database when two connections checkpoint and write at one moment (the
// WAL-reset bug, https://sqlite.org/wal.html#walresetbug). So at any moment one process checkpoints, the holder of
// `checkpoint.lock`, on its writing connection, by TRUNCATE, which holds the write lock while it resets the log.
//
// It holds the write lock too while it waits for readers. A reader that was in the way of one process is in the way of
// all: none of them is to try again before the log has grown by as much as makes it long. That length of the log is the
// length of `checkpoint.lock`, which has no bytes of its own. Whatever else was in the way, such as a writer, is known only
// to the process that met it. A log that is shorter than it was then has been emptied since, by whomever.
final class Checkpointer: Sendable {
    /// Bytes. The longer the log, the more changes of one page a checkpoint writes once.
    private static let logLimit = 8 * 1_048_576
    /// The same where the disk has little room: to move the log into the database takes room itself, and what the log then
    /// gives back is what jobs have to say that the disk is full.
    private static let logLimitOfFullDisk = logLimit / 8
    /// Milliseconds to wait for readers that still use the log; the next commit tries again.
    private static let patienceForReaders: Int64 = 100

    private let directory: StoreDirectory
    private let patience: Patience
    /// Bytes of the log from which this process tries next, after something was in its way.
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

    private var limit: Int {
        BlobFiles.freeBytes(of: directory) < BlobFiles.margin ? Self.logLimitOfFullDisk : Self.logLimit
    }

    /// Moves the log into the database, unless another process is doing so or a reader needs it. Best effort: the log
    /// is valid as it stands, and a later commit tries again.
    func checkpoint(_ db: Database) {
        guard let lock = try? FileLock(directory.checkpointLock) else { return }
        patience.set(milliseconds: Self.patienceForReaders)
        defer { patience.set(milliseconds: Patience.usual) }
        // Whether somebody was in the way, pages of the log, pages of it that were moved. What was not moved is read.
        let row = try? Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        let isDone = row.map { ($0[0] as Int) == 0 } ?? false
        let isRead = row.map { !isDone && ($0[2] as Int) < ($0[1] as Int) } ?? false
        let next = isDone ? 0 : length(of: directory.writeAheadLog) + Self.logLimit
        nextTry.store(next, ordering: .relaxed)
        if isDone || isRead { lock.setLength(next) }
    }

    /// By stat, which unlike open and close is harmless to SQLite's locks.
    private func length(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
