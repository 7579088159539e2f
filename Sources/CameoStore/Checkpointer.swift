internal import Foundation
internal import GRDB

// DESIGN. SQLite before 3.51.3 can corrupt a database when two connections checkpoint and write at one moment (the
// WAL-reset bug, https://sqlite.org/wal.html#walresetbug). So at any moment one process checkpoints, the holder of
// `checkpoint.lock`, on its writing connection, by TRUNCATE, which holds the write lock while it resets the log.
//
// It holds the write lock too while it waits for readers. A reader that was in the way of one process is in the way of
// all: none of them is to try again before the log has grown by as much as makes it long. That length of the log is the
// length of `checkpoint.lock`, which has no bytes of its own.
final class Checkpointer: Sendable {
    /// A thousand pages.
    private static let logLimit = 1_000 * Connection.pageSize
    /// Milliseconds to wait for readers that still use the log; the next commit tries again.
    private static let patienceForReaders: Int64 = 100

    private let directory: StoreDirectory
    private let patience: Patience
    init(directory: StoreDirectory, patience: Patience) {
        self.directory = directory
        self.patience = patience
    }

    func checkpointIfLogIsLong(_ db: Database) {
        let bytes = length(of: directory.writeAheadLog)
        if bytes > max(Self.logLimit, length(of: directory.checkpointLock)) { checkpoint(db) }
    }

    /// Moves the log into the database, unless another process is doing so or a reader needs it. Best effort: the log
    /// is valid as it stands, and a later commit tries again.
    func checkpoint(_ db: Database) {
        guard let lock = try? FileLock(directory.checkpointLock) else { return }
        patience.set(milliseconds: Self.patienceForReaders)
        defer { patience.set(milliseconds: Patience.usual) }
        // The row's first column is 1 if somebody was in the way.
        let isDone = (try? Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")) == 0
        lock.setLength(isDone ? 0 : length(of: directory.writeAheadLog) + Self.logLimit)
    }

    /// By stat, which unlike open and close is harmless to SQLite's locks.
    private func length(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
