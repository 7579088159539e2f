internal import CSQLite
package import CameoModel
package import CameoQueue
package import CameoStore
internal import CameoSystem
package import Foundation
internal import Synchronization

/// The queue, the thumbnails and their blobs: one folder, shared by any number of processes on one machine.
package final class SQLiteStore: QueueStore {
    package let directory: StoreDirectory
    package let clock: StoreClock
    let writes: CommitQueue?
    /// nil if the store was opened read-only.
    let claimTurn: ClaimTurn?
    let files: BlobFiles
    package let readings = Readings()
    /// The registrations of this process's workers, by id.
    let registrations = Mutex<[String: WorkerRegistration]>([:])
    package let acceptances = Acceptances()
    private let writer: ConnectionQueue?
    private let reader: ConnectionQueue
    /// The connection that sees other processes' commits, opened for its first use: most commands need none.
    let watcher = Mutex<ConnectionQueue?>(nil)
    /// Connections for what is read on the caller's thread, as many as such threads have read at the same time.
    let idleReaders = Mutex<[ConnectionQueue]>([])
    let readAccess: SQLiteConnection.Access
    private let checkpointer: Checkpointer
    private let inode: UInt64?

    /// Opens the store for writing; `creating` creates it if it does not exist.
    package convenience init(
        at path: String,
        creating: Bool = true,
        clock: StoreClock = .system
    ) throws(StoreError) {
        let directory = try StoreDirectory(at: path, creating: creating)
        guard access(directory.path, W_OK) == 0 else { throw .readOnly(path: directory.path) }
        do {
            try directory.makeDatabase()
            try directory.refuseEmptied()
            let patience = Patience(line: try WaitingLine(directory.waitingLine))
            let writer = try ConnectionQueue(directory.database, .readWrite, patience: patience)
            try Self.setUp(writer, directory, creating: creating)
            try self.init(directory, .readOnly, clock, writing: (writer, patience))
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    /// Opens the store read-only: no row or file is changed, and it may be on a read-only disk.
    ///
    /// - Throws: ``StoreError/olderSchema(path:found:needed:)`` if the store must be opened for writing first.
    package convenience init(reading path: String, clock: StoreClock = .system) throws(StoreError) {
        let directory = try StoreDirectory(at: path, creating: false)
        try directory.refuseEmptied()
        do {
            try self.init(directory, try Self.readAccess(to: directory), clock, writing: nil)
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    private init(
        _ directory: StoreDirectory,
        _ readAccess: SQLiteConnection.Access,
        _ clock: StoreClock,
        writing: (writer: ConnectionQueue, patience: Patience)?
    ) throws {
        (self.directory, self.readAccess, self.clock) = (directory, readAccess, clock)
        let checkpointer = Checkpointer(directory: directory, patience: writing?.patience ?? Patience())
        self.checkpointer = checkpointer
        writer = writing?.writer
        claimTurn = try writing.map { _ in try ClaimTurn(directory.claimLock) }
        reader = try ConnectionQueue(directory.database, readAccess)
        files = BlobFiles(directory: directory)
        inode = Self.inode(of: directory.database)
        writes = writing.map { writer, _ in
            CommitQueue(database: writer, checkpointer: checkpointer, directory: directory, clock: clock)
        }
        let version = try reader.sync { db in try Schema.version(of: db, at: directory.path) }
        guard version == Schema.currentVersion else {
            // A file without tables was left by a process that died while creating the store, or has lost them.
            if version == 0 { throw directory.emptied ?? .missing(path: directory.path) }
            throw StoreError.olderSchema(path: directory.path, found: version, needed: Schema.currentVersion)
        }
    }

    /// Creates or migrates the tables, in one process at a time. Opening a store that is ready waits for no lock.
    private static func setUp(
        _ writer: ConnectionQueue,
        _ directory: StoreDirectory,
        creating: Bool
    ) throws {
        let isReady = try writer.sync { db in try Schema.isReady(db, at: directory.path) }
        guard !isReady else { return }
        guard let lock = try FileLock.ifFree(directory.setUpLock, within: Patience.usual) else {
            let reason = "another process has been setting it up for too long; stop the one that has setup.lock open"
            throw StoreError.cannotOpen(path: directory.path, reason: reason)
        }
        defer { withExtendedLifetime(lock) {} }
        try writer.sync { db in
            if try Schema.version(of: db, at: directory.path) == 0 {
                if let emptied = directory.emptied { throw emptied }
                guard creating else { throw StoreError.missing(path: directory.path) }
            }
            try Schema.setUp(db, at: directory.path)
        }
    }

    package var location: String { directory.path }
    package var folder: String? { directory.path }
    package var lease: Duration { .milliseconds(Lease.milliseconds) }

    package func othersBytes() async throws(StoreError) -> OthersBytes? {
        try await files.perform { [files, writes] _ in files.others(leavingMark: writes != nil) }
    }

    package func adoptBytes() async throws(StoreError) -> OthersBytes? {
        guard writes != nil else { throw .readOnly(path: location) }
        return try await files.perform { [files] _ in
            guard files.isLinked else { throw StoreError.refused(reason: "all its bytes are in its own folder") }
            let others = files.others()
            if others != nil { try files.adopt() }
            return others
        }
    }

    package var isReadOnly: Bool { writes == nil }
    package var isInPlace: Bool { Self.inode(of: directory.database) == inode }

    private static func inode(of path: String) -> UInt64? { StoreAccess.status(of: path).map { UInt64($0.st_ino) } }

    package func close() {
        writer?.sync { db in checkpointer.checkpoint(db) }
    }

    package func finish() async {
        await recordReadings()
        // After all that waits for the connection.
        try? await writeOutsideTransaction { _ in }
    }

    /// SQLite cannot create its shared memory file in a folder that is not writable. If the log is empty, reading the
    /// database alone loses nothing.
    private static func readAccess(to directory: StoreDirectory) throws -> SQLiteConnection.Access {
        do {
            try SQLiteConnection(directory.database, .readOnly).execute("PRAGMA schema_version")
            return .readOnly
        } catch let error as SQLiteError where [SQLITE_CANTOPEN, SQLITE_READONLY].contains(error.code) {
            guard StoreAccess.size(of: directory.writeAheadLog) == 0 else {
                let reason =
                    "its folder is not writable and its log is not empty; run `cameo-admin check` as a user who can write"
                throw StoreError.cannotOpen(path: directory.path, reason: reason)
            }
            return .immutable
        }
    }

    // MARK: - Reads and writes for extensions

    @discardableResult
    package func commit<Value: Sendable>(
        _ write: Write = .new,
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        guard let writes else { throw .readOnly(path: directory.path) }
        do {
            return try await writes.commit(write.phase) { db in
                // The counters of a whole group are written once, unless others may read them.
                if case .holding = write { return try body(db) }
                try db.flush()
                return try body(db)
            }
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    package func accept(through id: Int64) async throws(StoreError) {
        while try await read({ db in try Self.acceptedThrough(db) < id && db.hasArrivals() }) {
            try await acceptPage()
        }
    }

    /// The feed is written with numbers.
    package func numberChanges() {}

    package func prepare(
        _ data: Data,
        digest: BlobDigest,
        mediaType: String?
    ) async throws(StoreError) -> PreparedBlob {
        guard files.hasRoom(for: data.count) else { throw .full(path: directory.path) }
        var isInline = data.count <= BlobFiles.inlineLimit
        if !isInline {
            isInline = try await files.perform { [files] _ in
                if files.others() != nil { return true }
                try files.bytes.write(data, as: digest)
                return false
            }
            if !isInline { KillPoint.afterBlobSync.pass() }
        }
        return PreparedBlob(digest: digest, size: data.count, data: isInline ? data : nil, mediaType: mediaType)
    }

    /// Runs a statement that cannot run in a transaction, on the writing connection.
    @discardableResult
    func writeOutsideTransaction<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Value
    ) async throws(StoreError) -> Value {
        guard let writer else { throw .readOnly(path: directory.path) }
        return try await mapping { try await writer.run(body) }
    }

    /// Moves the log into the database now, unless another process is doing so or a reader needs it; a short log stays as
    /// it is if that is wanted.
    func checkpointNow(onlyIfLong: Bool = false) async throws(StoreError) {
        let checkpointer = checkpointer
        try await writeOutsideTransaction { db in
            if !onlyIfLong || checkpointer.isLogLong { checkpointer.checkpoint(db) }
        }
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await read(by: reader, body)
    }

    /// On a connection and thread of its own.
    package func readApart<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await read(by: mapping { try ConnectionQueue(directory.database, readAccess) }, body)
    }

    private func read<Value: Sendable>(
        by reader: ConnectionQueue,
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        let (directory, clock) = (directory, clock)
        return try await mapping {
            try await reader.run { db in
                try db.inTransaction(.snapshot) { try body(SQLiteTransaction(db, directory, clock: clock)) }
            }
        }
    }

    /// Runs a body whose errors become those of this store.
    func mapping<Value>(_ body: () throws -> Value) throws(StoreError) -> Value {
        do {
            return try body()
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    func mapping<Value>(_ body: () async throws -> Value) async throws(StoreError) -> Value {
        do {
            return try await body()
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }
}
