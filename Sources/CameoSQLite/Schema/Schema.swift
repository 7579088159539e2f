internal import CLinux
internal import CameoStore
internal import Foundation
internal import GRDB

/// The tables, their versions, and the steps from one to the next.
///
/// A version of Cameo whose requests know more fields has a script too, if only an empty one: a worker that does not know
/// a field discards its job, so older workers must not claim any more (``WritePhase``).
enum Schema {
    /// "Came" in ASCII: marks the file as Cameo's (PRAGMA application_id).
    static let applicationID = 0x4361_6D65

    /// One script a version, the oldest first. A published script is never edited; a new one is appended. Views come before
    /// tables: where a view is the first that SQLite's hash of tables gives, `PRAGMA integrity_check` takes its missing root
    /// page for the sign of a partial check, and leaves the free pages out (`sqlite3BtreeIntegrityCheck`, seen in 3.40.1).
    private static let scripts = ["\(views)\n\(pictures)\n\(door)\n\(heart)\n\(history)"]

    static var currentVersion: Int { scripts.count }

    /// The version that the file has, 0 for an empty one.
    /// - Throws: ``StoreError/notAStore(path:)``, ``StoreError/newerSchema(path:found:supported:)``.
    static func version(of db: Database, at path: String) throws -> Int {
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let application = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let isEmpty = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0
        if isEmpty && application == 0 { return 0 }
        guard application == applicationID else { throw StoreError.notAStore(path: path) }
        guard version <= currentVersion else {
            throw StoreError.newerSchema(path: path, found: version, supported: currentVersion)
        }
        return version
    }

    /// Why this program begins nothing more in a file that it has open: a newer one has changed the tables. Nil while
    /// nobody has. Costs a microsecond.
    static func refusal(by db: Database, at path: String) throws -> StoreError? {
        let found = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA user_version")) ?? 0
        return found > currentVersion ? .newerSchema(path: path, found: found, supported: currentVersion) : nil
    }

    /// Leaves out what SQLite makes and names itself.
    static let namedByPrograms = "name NOT GLOB 'sqlite_*'"

    /// Names of all tables, indexes, triggers and views that are Cameo's own.
    static func ownNames() throws -> Set<String> {
        let model = try DatabaseQueue()
        return try model.write { db in
            for script in scripts { try db.execute(sql: script) }
            return try String.fetchSet(db, sql: "SELECT name FROM sqlite_schema WHERE \(namedByPrograms)")
        }
    }

    /// Whether the file has all tables, and its log ahead of it. Another program may have turned that off while nobody had
    /// the store open (`PRAGMA journal_mode`, which is kept in the file): no wake-up would come then, and readers and
    /// writers would wait for each other.
    static func isReady(_ db: Database, at path: String) throws -> Bool {
        try version(of: db, at: path) == currentVersion && hasLogAhead(db)
    }

    static func hasLogAhead(_ db: Database) throws -> Bool {
        try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal"
    }

    /// Brings the file to ``currentVersion``, and puts its log ahead of it. For one process at a time.
    static func setUp(_ db: Database, at path: String) throws {
        let isOld = try version(of: db, at: path) < currentVersion
        // Both are kept in the file and cannot change inside a transaction.
        if isOld { try db.execute(sql: "PRAGMA page_size = \(Connection.pageSize)") }
        try putLogAhead(db, at: path)
        guard isOld else { return }
        try db.inTransaction(.immediate) {
            for script in scripts.dropFirst(try version(of: db, at: path)) {
                try db.execute(sql: script)
            }
            try db.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(currentVersion)")
            return .commit
        }
    }

    /// Needs the file alone for a moment, and SQLite does not ask the busy handler for it.
    private static func putLogAhead(_ db: Database, at path: String) throws {
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
