internal import Foundation
internal import GRDB
internal import Synchronization

// DESIGN. SQLite before 3.51.3 can corrupt a database when two connections checkpoint and write at one moment (the
// WAL-reset bug, https://sqlite.org/wal.html#walresetbug). So at any moment one process checkpoints, the holder of
// `checkpoint.lock`, on its writing connection, by TRUNCATE, which holds the write lock while it resets the log.
final class Checkpointer: Sendable {
    /// A thousand pages.
    private static let logLimit = 1_000 * Connection.pageSize
    /// Milliseconds to wait for readers that still use the log; the next commit tries again.
    private static let patienceForReaders: Int64 = 100

    private let directory: StoreDirectory
    private let patience: Patience
    /// Bytes of the log from which to try next: after a reader was in the way, not again at every commit.
    private let nextTry = Atomic<Int>(Checkpointer.logLimit)

    init(directory: StoreDirectory, patience: Patience) {
        self.directory = directory
        self.patience = patience
    }

    func checkpointIfLogIsLong(_ db: Database) {
        let bytes = logBytes
        guard bytes > nextTry.load(ordering: .relaxed) else { return }
        let isDone = checkpoint(db)
        nextTry.store(Self.logLimit + (isDone ? 0 : bytes), ordering: .relaxed)
    }

    /// Moves the log into the database, unless another process is doing so or a reader needs it. Best effort: the log
    /// is valid as it stands, and a later commit tries again. False if the log could not be emptied.
    @discardableResult
    func checkpoint(_ db: Database) -> Bool {
        guard let lock = try? FileLock(directory.checkpointLock) else { return false }
        patience.set(milliseconds: Self.patienceForReaders)
        defer { patience.set(milliseconds: Patience.usual) }
        defer { withExtendedLifetime(lock) {} }
        // The row's first column is 1 if somebody was in the way.
        return (try? Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")) == 0
    }

    /// By stat, which unlike open and close is harmless to SQLite's locks.
    private var logBytes: Int {
        var status = stat()
        return stat(directory.writeAheadLog, &status) == 0 ? Int(status.st_size) : 0
    }
}
