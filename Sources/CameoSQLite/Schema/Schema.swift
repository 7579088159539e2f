internal import CLinux
internal import CameoStore
internal import Foundation
internal import GRDB

/// The tables, their versions, and the migrations between versions.
///
/// A version of Cameo whose requests have new fields also needs a script, even an empty one: a worker that does not
/// know a field discards its job, so older workers must stop claiming (``WritePhase``).
enum Schema {
    /// "Came" in ASCII: marks the file as Cameo's (PRAGMA application_id).
    static let applicationID = 0x4361_6D65

    /// One script per version, oldest first. A published script is never edited; a new one is appended. Views come
    /// before tables: if a view is the first entry in SQLite's hash of tables, `PRAGMA integrity_check` mistakes its
    /// missing root page for a partial check and skips the free pages (`sqlite3BtreeIntegrityCheck`, seen in 3.40.1).
    static let scripts = [
        "\(views)\n\(pictures)\n\(producerTables)\n\(queueTables)\n\(history)\n\(hooks)",
        laterFetches, lacks, refusals, removedJobs,
    ]

    static var currentVersion: Int { scripts.count }

    /// The version of the file, 0 if it is empty.
    ///
    /// - Throws: ``StoreError/notAStore(path:)``, ``StoreError/newerSchema(path:found:supported:)``,
    ///   ``StoreError/cannotOpen(path:reason:)``
    static func version(of db: Database, at path: String) throws -> Int {
        // One statement, so that all of it is of one moment: another process may be creating the tables.
        let look = """
            SELECT user_version, application_id, (SELECT count(*) = 0 FROM sqlite_schema)
            FROM pragma_user_version, pragma_application_id
            """
        guard let row = try Row.fetchOne(db, sql: look) else { throw StoreError.notAStore(path: path) }
        let (version, application, isEmpty) = (row[0] as Int, row[1] as Int, row[2] as Bool)
        if isEmpty && application == 0 { return 0 }
        guard application == applicationID else { throw StoreError.notAStore(path: path) }
        if let refusal = refusal(of: version, at: path) { throw refusal }
        guard version >= 1 else {
            throw StoreError.cannotOpen(path: path, reason: "its user_version is \(version), which Cameo never writes")
        }
        return version
    }

    private static func refusal(of version: Int, at path: String) -> StoreError? {
        version > currentVersion ? .newerSchema(path: path, found: version, supported: currentVersion) : nil
    }

    /// Why this program must start nothing more in an open file: a newer program has migrated the tables. Nil otherwise. Costs
    /// a microsecond.
    static func refusal(by db: Database, at path: String) throws -> StoreError? {
        refusal(of: try Int.fetchOne(db.cachedStatement(sql: "PRAGMA user_version")) ?? 0, at: path)
    }

    /// Excludes SQLite's internal objects.
    static let namedByPrograms = "name NOT GLOB 'sqlite_*'"

    /// The names of all of Cameo's tables, indexes, triggers and views.
    static func ownNames() throws -> Set<String> {
        let model = try DatabaseQueue()
        return try model.write { db in
            for script in scripts { try db.execute(sql: script) }
            return try String.fetchSet(db, sql: "SELECT name FROM sqlite_schema WHERE \(namedByPrograms)")
        }
    }

    /// Whether the file has all tables and is in WAL mode. Another program may have turned WAL off while the store was
    /// closed (`PRAGMA journal_mode` is stored in the file); then no wake-ups would come, and readers and writers would
    /// block each other.
    static func isReady(_ db: Database, at path: String) throws -> Bool {
        try version(of: db, at: path) == currentVersion && isInWALMode(db)
    }

    static func isInWALMode(_ db: Database) throws -> Bool {
        try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal"
    }

    /// Migrates the file to ``currentVersion``, or an older one in tests, and turns WAL on. Only one process at a time may call
    /// this.
    static func setUp(_ db: Database, at path: String, to wanted: Int = currentVersion) throws {
        let isOld = try version(of: db, at: path) < wanted
        // Page size and journal mode are stored in the file and cannot change inside a transaction.
        if isOld { try db.execute(sql: "PRAGMA page_size = \(Connection.pageSize)") }
        try turnWALOn(db, at: path)
        guard isOld else { return }
        try db.inTransaction(.immediate) {
            for script in scripts[..<wanted].dropFirst(try version(of: db, at: path)) {
                try db.execute(sql: script)
            }
            try db.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(wanted)")
            return .commit
        }
    }

    /// Retries, because this needs exclusive access for a moment and SQLite does not call the busy handler.
    private static func turnWALOn(_ db: Database, at path: String) throws {
        let deadline = cameo_monotonic_ms() + Patience.usual
        while true {
            do {
                guard try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") != "wal" else { return }
                throw StoreError.cannotOpen(path: path, reason: "SQLite cannot keep a write-ahead log there")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                guard cameo_monotonic_ms() < deadline else { throw error }
                poll(nil, 0, 2)
            }
        }
    }
}
