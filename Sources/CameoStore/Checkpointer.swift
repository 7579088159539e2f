internal import Foundation
internal import GRDB

// DESIGN. SQLite before 3.51.3 can corrupt a database when two connections checkpoint and write at one moment (the
// WAL-reset bug, https://sqlite.org/wal.html#walresetbug). So at any moment one process checkpoints, the holder of
// `checkpoint.lock`, on its writing connection, by TRUNCATE, which holds the write lock while it resets the log.
struct Checkpointer: Sendable {
    /// A thousand pages.
    private static let logLimit = 1_000 * Connection.pageSize
    /// Milliseconds to wait for readers that still use the log; the next commit tries again.
    private static let patienceForReaders = 100

    let directory: StoreDirectory
    let patience: Connection.Patience

    func checkpointIfLogIsLong(_ db: Database) {
        guard logBytes > Self.logLimit else { return }
        checkpoint(db)
    }

    /// Moves the log into the database, unless another process is doing so or a reader needs it. Best effort: the log
    /// is valid as it stands, and whoever commits next tries again.
    func checkpoint(_ db: Database) {
        guard let lock = try? FileLock(directory.checkpointLock) else { return }
        patience.set(Self.patienceForReaders)
        defer { patience.set(Connection.Patience.usual) }
        _ = try? Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        withExtendedLifetime(lock) {}
    }

    /// By stat, which unlike open and close is harmless to SQLite's locks.
    private var logBytes: Int {
        var status = stat()
        return stat(directory.writeAheadLog, &status) == 0 ? Int(status.st_size) : 0
    }
}
