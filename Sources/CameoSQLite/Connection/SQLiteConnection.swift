internal import CSQLite
internal import CameoModel
internal import CameoQueue
internal import Foundation

// DESIGN. Every connection of Cameo
//   - waits for a lock with constant short retries, and in line (``Patience``, ``WaitingLine``), because SQLite's own
//     growing sleep starves old waiters;
//   - never checkpoints by itself (``Checkpointer`` does), not even when it is closed;
//   - heeds foreign keys, which SQLite does not unless it is told to;
//   - distrusts the schema and refuses to rewrite it (DEFENSIVE, trusted_schema=OFF).
// It has no mutex of SQLite's: whoever has it is on the thread of its queue (``ConnectionQueue``). Statements are compiled once
// and kept, by their text, because each job takes some thirty.
final class SQLiteConnection {
    enum Access {
        case readWrite
        /// A file of another program, which must exist, with its own settings.
        case others
        case readOnly
        /// Read-only access to a file that cannot change: no locks and no `-shm`, so that it works on read-only disks.
        case immutable
    }

    /// The page size in bytes. The log stores a whole page for each changed row: 8 KiB makes inline blobs a little
    /// faster, but a job for a small picture then writes nearly twice as much.
    static let pageSize = 4_096

    private static let configuration: Void = cameo_sqlite_configure()

    /// nil once it is closed; SQLite refuses every call then.
    private(set) var handle: OpaquePointer?
    private var statements: [String: SQLiteStatement] = [:]
    private let patience: Patience
    /// Whether a body of ``inTransaction(_:_:)`` runs.
    private var isInTransaction = false

    /// Opens a file, which is created if it does not exist and may be written.
    ///
    /// - Throws: `SQLiteError`, also for a file that is no database.
    init(_ path: String, _ access: Access, patience: Patience = Patience()) throws {
        Self.configuration
        self.patience = patience
        let (name, flags) =
            switch access {
            case .readWrite: (path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
            case .others: (path, SQLITE_OPEN_READWRITE)
            case .readOnly: (path, SQLITE_OPEN_READONLY)
            case .immutable: (Self.immutable(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            }
        let code = sqlite3_open_v2(name, &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK else { throw failure(sqlite3_extended_errcode(handle)) }
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_handler(
            handle,
            { patience, tries in
                guard let patience else { return 0 }
                let isLonger = Unmanaged<Patience>.fromOpaque(patience).takeUnretainedValue()
                    .lastsAnotherTry(after: Int(tries))
                return isLonger ? 1 : 0
            },
            Unmanaged.passUnretained(patience).toOpaque()
        )
        // Before SQLite 3.41, a hardened connection refuses tables whose CHECKs call JSON functions.
        if access == .others { return }
        try check(cameo_sqlite_harden(handle))
        try execute(
            script: """
                \(access == .readWrite ? "PRAGMA synchronous = FULL;" : "")
                PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192; PRAGMA mmap_size = 0;
                SELECT 1 FROM sqlite_schema LIMIT 1
                """
        )
    }

    private static func immutable(_ path: String) -> String {
        "file:\(path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path)?immutable=1"
    }

    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
    }

    /// Closes the file now, and not when the last reference goes.
    func close() throws {
        statements = [:]
        try check(sqlite3_close(handle))
        handle = nil
    }

    // MARK: - Statements

    /// Runs a statement, whose parameters are `?`, or `?1`, `?2`, …, and passes its rows to a body, which returns whether to go
    /// on.
    func run(_ sql: String, _ values: [(any SQLBindable)?], _ body: (QueueRow) throws -> Bool) throws {
        let statement = try begin(sql, values)
        defer { statement.end() }
        guard try step(statement) else { return }
        let columns = statement.columns()
        repeat {
            guard try body(QueueRow(columns, statement.values())) else { return }
        } while try step(statement)
    }

    func rows(_ sql: String, _ values: [(any SQLBindable)?] = []) throws -> [QueueRow] {
        var rows: [QueueRow] = []
        try run(sql, values) { row in
            rows.append(row)
            return true
        }
        return rows
    }

    /// The first value of the first row; nil if there is no row or it is NULL.
    func value<Value: SQLReadable>(_ sql: String) throws -> Value? { try rows(sql).first?[0] }

    /// Runs a statement for its effect, and returns the number of rows that it inserted, updated or deleted.
    @discardableResult
    func execute(_ sql: String, _ values: [(any SQLBindable)?] = []) throws -> Int {
        let statement = try begin(sql, values)
        defer { statement.end() }
        while try step(statement) {}
        return Int(sqlite3_changes64(handle))
    }

    /// Runs statements that take no parameters, none of which is kept.
    func execute(script: String) throws { try check(sqlite3_exec(handle, script, nil, nil, nil)) }

    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// A statement with its parameters, which runs until it is ended.
    private func begin(_ sql: String, _ values: [(any SQLBindable)?]) throws -> SQLiteStatement {
        // SQLite ends a transaction after some errors; a body that went on would commit each of its statements.
        if isInTransaction, !isInsideTransaction {
            throw SQLiteError(extendedCode: SQLITE_ABORT, message: "the transaction was aborted")
        }
        let statement = try statement(sql)
        statement.isRunning = true
        for (index, value) in values.enumerated() {
            let code = statement.bind(value?.sqlValue, to: CInt(index + 1))
            guard code == SQLITE_OK else {
                defer { statement.end() }
                throw failure(code)
            }
        }
        return statement
    }

    private func statement(_ sql: String) throws -> SQLiteStatement {
        // One that is running is another's, which keeps it.
        if let known = statements[sql], !known.isRunning { return known }
        let statement = try sql.withCString { start in
            var (compiled, rest): (OpaquePointer?, UnsafePointer<CChar>?)
            try check(sqlite3_prepare_v3(handle, start, -1, CUnsignedInt(SQLITE_PREPARE_PERSISTENT), &compiled, &rest))
            guard let compiled, let rest else {
                throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "no statement: \(sql)")
            }
            let statement = SQLiteStatement(compiled)
            guard String(cString: rest).allSatisfy(\.isWhitespace) else {
                throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "more than one statement: \(sql)")
            }
            return statement
        }
        statements[sql] = statement
        return statement
    }

    /// Returns whether there is a row.
    private func step(_ statement: SQLiteStatement) throws -> Bool {
        switch sqlite3_step(statement.handle) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        case let code: throw failure(code)
        }
    }

    private func check(_ code: CInt) throws {
        if code != SQLITE_OK { throw failure(code) }
    }

    private func failure(_ code: CInt) -> SQLiteError {
        let message = handle == nil ? sqlite3_errstr(code) : sqlite3_errmsg(handle)
        return SQLiteError(extendedCode: code, message: message.map { String(cString: $0) } ?? "unknown reason")
    }

    // MARK: - Transactions

    enum Transaction: String {
        /// All that it reads is of one moment, that of its first read.
        case snapshot = "BEGIN"
        /// Has the write lock from its beginning, for which it waits in line.
        case write = "BEGIN IMMEDIATE"
    }

    var isInsideTransaction: Bool { handle != nil && sqlite3_get_autocommit(handle) == 0 }

    /// Runs a body in a transaction, which its error rolls back.
    func inTransaction<Value>(_ kind: Transaction, _ body: () throws -> Value) throws -> Value {
        switch kind {
        case .snapshot: try execute(kind.rawValue)
        case .write: try patience.inLine { try execute(kind.rawValue) }
        }
        isInTransaction = true
        defer {
            isInTransaction = false
            rollBack()
        }
        let value = try body()
        try execute("COMMIT")
        return value
    }

    /// Runs a body in a transaction, whose error undoes what it did, and nothing else.
    func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("SAVEPOINT cameo")
        do {
            let value = try body()
            try execute("RELEASE cameo")
            return value
        } catch {
            do {
                if isInsideTransaction {
                    try execute("ROLLBACK TO cameo")
                    try execute("RELEASE cameo")
                }
            } catch {
                // Nothing may be committed of what could not be undone.
                rollBack()
            }
            throw error
        }
    }

    /// Ends a transaction that is open. After some errors SQLite has already rolled back, which is the only reason for a rollback
    /// to fail.
    func rollBack() {
        if isInsideTransaction { _ = try? execute("ROLLBACK") }
    }

    // MARK: - Copies

    /// Copies the database into another, step by step. Within a snapshot, the copy is of its moment.
    func copy(to other: SQLiteConnection, pagesPerStep: CInt, report: (_ pages: Int) -> Void) throws {
        guard let backup = sqlite3_backup_init(other.handle, "main", handle, "main") else {
            throw other.failure(sqlite3_extended_errcode(other.handle))
        }
        var code = SQLITE_OK
        while code == SQLITE_OK {
            code = sqlite3_backup_step(backup, pagesPerStep)
            report(Int(sqlite3_backup_pagecount(backup) - sqlite3_backup_remaining(backup)))
        }
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else { throw other.failure(code == SQLITE_DONE ? end : code) }
    }
}

/// A compiled statement, which its connection keeps.
private final class SQLiteStatement {
    let handle: OpaquePointer
    var isRunning = false
    private var known: (columns: QueueColumns, compilation: CInt)?

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    /// The columns of its rows, once it has one: SQLite compiles a statement anew when the tables have changed.
    func columns() -> QueueColumns {
        let compilation = sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0)
        if let known, known.compilation == compilation { return known.columns }
        let columns = QueueColumns(
            (0..<sqlite3_column_count(handle)).map { column in
                sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
            }
        )
        known = (columns, compilation)
        return columns
    }

    /// What the row that it has reached has in its columns.
    func values() -> [SQLValue?] { (0..<sqlite3_column_count(handle)).map(value) }

    private func value(_ column: CInt) -> SQLValue? {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT:
            let start = sqlite3_column_text(handle, column)
            let text = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
            return .text(String(decoding: text, as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(handle, column)
            return .bytes(start.map { Data(bytes: $0, count: Int(sqlite3_column_bytes(handle, column))) } ?? Data())
        default: return nil
        }
    }

    /// Until this, it may hold a lock, and what its parameters are.
    func end() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        isRunning = false
    }

    func bind(_ value: SQLValue?, to place: CInt) -> CInt {
        switch value {
        case nil: sqlite3_bind_null(handle, place)
        case .integer(let number): sqlite3_bind_int64(handle, place, number)
        case .real(let number): sqlite3_bind_double(handle, place, number)
        case .truth(let truth): sqlite3_bind_int64(handle, place, truth ? 1 : 0)
        case .text(let text): bind(text: text, to: place)
        case .bytes(let data):
            data.isEmpty
                ? sqlite3_bind_zeroblob(handle, place, 0)
                : data.withUnsafeBytes {
                    sqlite3_bind_blob64(handle, place, $0.baseAddress, UInt64($0.count), Self.copied)
                }
        case .integers(let numbers): bind(text: "[\(numbers.map(String.init).joined(separator: ","))]", to: place)
        case .texts(let texts): bind(text: JSONValue.array(texts.map(JSONValue.string)).canonicalText, to: place)
        case .written(let list): bind(text: String(decoding: list, as: UTF8.self), to: place)
        }
    }

    private func bind(text: String, to place: CInt) -> CInt {
        var text = text
        guard !text.isEmpty else { return sqlite3_bind_text(handle, place, "", 0, Self.copied) }
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                sqlite3_bind_text(handle, place, characters.baseAddress, CInt(characters.count), Self.copied)
            }
        }
    }

    /// SQLite copies what it gets (SQLITE_TRANSIENT).
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
