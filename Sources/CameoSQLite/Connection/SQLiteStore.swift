internal import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB
internal import Synchronization

/// The queue, the thumbnails and their blobs: one folder, shared by any number of processes on one machine.
///
/// Each method keeps the invariants of its own transition, and what it returns is durable. Nothing of SQL shows here.
package final class SQLiteStore: Store {
    package let directory: StoreDirectory
    package let clock: StoreClock
    let writes: CommitQueue?
    let files: BlobFiles
    let readings = Mutex(PendingReadings())
    /// Presences of the workers of this process, by their ids.
    let registrations = Mutex<[String: WorkerRegistration]>([:])
    /// Jobs that this process has refused, until somebody asks.
    let refused = Mutex<[LostJob]>([])
    private let writer: DatabaseQueue?
    private let reader: DatabaseQueue
    private let watcher: DatabaseQueue
    let readAccess: Connection.Access
    private let checkpointer: Checkpointer
    private let inode: UInt64?

    /// Opens the store for writing, making it first if `creating`.
    package convenience init(
        at path: String,
        creating: Bool = true,
        clock: StoreClock = .system
    ) throws(StoreError) {
        let directory = try StoreDirectory(at: path, creating: creating)
        guard access(directory.path, W_OK) == 0 else { throw .readOnly(path: directory.path) }
        do {
            try directory.makeDatabase()
            let line = try WaitingLine(directory.waitingLine)
            let patience = Patience(line: line)
            let writer = try Connection.open(directory.database, .readWrite, patience: patience)
            try Self.setUp(writer, directory)
            try self.init(
                directory: directory,
                clock: clock,
                writer: writer,
                line: line,
                checkpointer: Checkpointer(directory: directory, patience: patience),
                readAccess: .readOnly
            )
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    /// Opens the store for reading only: no row and no file of it is changed, and it may lie on a read-only disk.
    ///
    /// - Throws: ``StoreError/olderSchema(path:found:needed:)`` for one that has to be opened for writing first.
    package convenience init(reading path: String, clock: StoreClock = .system) throws(StoreError) {
        let directory = try StoreDirectory(at: path, creating: false)
        do {
            let access = try Self.readAccess(to: directory)
            try self.init(
                directory: directory,
                clock: clock,
                writer: nil,
                line: nil,
                checkpointer: Checkpointer(directory: directory, patience: Patience()),
                readAccess: access
            )
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    private init(
        directory: StoreDirectory,
        clock: StoreClock,
        writer: DatabaseQueue?,
        line: WaitingLine?,
        checkpointer: Checkpointer,
        readAccess: Connection.Access
    ) throws {
        self.directory = directory
        self.clock = clock
        self.writer = writer
        self.checkpointer = checkpointer
        self.readAccess = readAccess
        reader = try Connection.open(directory.database, readAccess)
        watcher = try Connection.open(directory.database, readAccess)
        files = BlobFiles(directory: directory)
        inode = Self.inode(of: directory.database)
        writes = writer.flatMap { writer in
            line.map {
                CommitQueue(database: writer, line: $0, checkpointer: checkpointer, path: directory.path)
            }
        }
        let version = try reader.read { db in try Schema.version(of: db, at: directory.path) }
        guard version == Schema.currentVersion else {
            // A file without tables is left of a process that ended while it made the store.
            if version == 0 { throw StoreError.missing(path: directory.path) }
            throw StoreError.olderSchema(path: directory.path, found: version, needed: Schema.currentVersion)
        }
    }

    /// Most stores are ready, and whoever opens one waits for nobody. What there is to do one process does at a time.
    private static func setUp(_ writer: DatabaseQueue, _ directory: StoreDirectory) throws {
        let isReady = try writer.writeWithoutTransaction { db in try Schema.isReady(db, at: directory.path) }
        guard !isReady else { return }
        try FileLock.hold(directory.setUpLock, within: Patience.usual) {
            try writer.writeWithoutTransaction { db in try Schema.setUp(db, at: directory.path) }
        } orElse: {
            let reason = "another process has been setting it up for too long; end the one that has setup.lock open"
            throw StoreError.cannotOpen(path: directory.path, reason: reason)
        }
    }

    package var location: String { directory.path }

    /// Whether the database's file still lies where it was opened; false once the folder was removed or replaced.
    package var isInPlace: Bool { Self.inode(of: directory.database) == inode }

    /// By stat, which unlike open and close is harmless to SQLite's locks.
    private static func inode(of path: String) -> UInt64? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    package func close() {
        writer?.writeWithoutTransaction { db in checkpointer.checkpoint(db) }
    }

    package func finish() async {
        await writeDownReadings()
        guard let writer else { return }
        await withCheckedContinuation { continuation in
            writer.asyncWriteWithoutTransaction { _ in continuation.resume() }
        }
    }

    /// A folder that may not be written has no place for SQLite's shared memory file. If the log is empty nothing is
    /// lost by reading the database alone.
    private static func readAccess(to directory: StoreDirectory) throws -> Connection.Access {
        do {
            let probe = try Connection.open(directory.database, .readOnly)
            _ = try probe.read { db in try Int.fetchOne(db, sql: "PRAGMA schema_version") }
            return .readOnly
        } catch let error as DatabaseError
            where [.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode)
        {
            var status = stat()
            let hasLog = stat(directory.writeAheadLog, &status) == 0 && status.st_size > 0
            guard !hasLog else {
                let reason =
                    "its folder may not be written and its log is not empty; run `cameo-admin check` where it may"
                throw StoreError.cannotOpen(path: directory.path, reason: reason)
            }
            return .immutable
        }
    }

    // MARK: - For the other files of this room

    func commit<Value: Sendable>(
        _ phase: WritePhase = .new,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        try await submit(phase) { db, ledger in
            try ledger.post(db)
            return try body(db)
        }
    }

    /// Ends what was begun. It reads no counts: those of all that commit together are written once.
    func commitCounting<Value: Sendable>(
        _ body: @escaping @Sendable (Database, inout Ledger) throws -> Value
    ) async throws(StoreError) -> Value {
        try await submit(.begun, body)
    }

    private func submit<Value: Sendable>(
        _ phase: WritePhase,
        _ body: @escaping @Sendable (Database, inout Ledger) throws -> Value
    ) async throws(StoreError) -> Value {
        guard let writes else { throw .readOnly(path: directory.path) }
        do {
            return try await writes.commit(phase, body)
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    /// Runs a statement on the writing connection that cannot stand in a transaction.
    func writeOutsideTransaction<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        guard let writer else { throw .readOnly(path: directory.path) }
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            writer.asyncWriteWithoutTransaction { db in continuation.resume(returning: Result { try body(db) }) }
        }
        return try value(of: result)
    }

    /// Empties the log into the database now, unless another process is doing so or a reader needs it.
    func checkpointNow() async throws(StoreError) {
        let checkpointer = checkpointer
        try await writeOutsideTransaction { db in checkpointer.checkpoint(db) }
    }

    /// Like a commit, a read does not end with the task that asked for it: its cancellation is no error of the store.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        try await read(by: reader, body)
    }

    /// A read that may take long, on a connection and a thread of its own: what else this program reads goes on.
    func readApart<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        let connection: DatabaseQueue
        do {
            connection = try Connection.open(directory.database, readAccess)
        } catch {
            throw StoreError(error, path: directory.path)
        }
        return try await read(by: connection, body)
    }

    private func read<Value: Sendable>(
        by reader: DatabaseQueue,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            reader.asyncRead { database in
                continuation.resume(returning: Result { try body(try database.get()) })
            }
        }
        return try value(of: result)
    }

    package func wakeUps() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let watch = LogWatch(of: directory, by: watcher) { continuation.yield() }
        continuation.onTermination = { _ in watch.stop() }
        watch.start()
        continuation.yield()
        return stream
    }

    package func version() async throws(StoreError) -> Int {
        let result: Result<Int, any Error> = await withCheckedContinuation { continuation in
            // No transaction: inside one the answer would stand still.
            watcher.asyncUnsafeRead { database in
                continuation.resume(
                    returning: Result {
                        try Int.fetchOne(database.get().cachedStatement(sql: "PRAGMA data_version")) ?? 0
                    }
                )
            }
        }
        return try value(of: result)
    }

    private func value<Value>(of result: Result<Value, any Error>) throws(StoreError) -> Value {
        do {
            return try result.get()
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    var nowMilliseconds: Int64 { clock.now().milliseconds }
}
