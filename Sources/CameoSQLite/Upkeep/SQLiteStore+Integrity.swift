internal import CSQLite
internal import CameoQueue
internal import CameoStore

// What SQLite itself finds in the file, and its repair of indexes: an index that disagrees with its table gives wrong
// answers and blocks changes of its rows (SQLITE_CORRUPT_INDEX), and can be made anew from the table. If a page is
// damaged, nothing is made: it might be written over a page of a table.

/// What a message of `PRAGMA integrity_check` is about (https://www.sqlite.org/pragma.html#pragma_integrity_check).
enum IntegrityFault {
    /// An index that disagrees with the rows of its table.
    case index
    /// A readable row that violates a constraint of its table, or should be unique and is not.
    case row
    /// Anything else: what is on a page may not be readable.
    case page

    /// The messages of `sqlite3Pragma` in pragma.c; those about pages have several lines, or words of their own.
    init(_ message: String) {
        if message.contains(
            #/^(CHECK constraint failed in |(NULL|NUMERIC|TEXT|non-[A-Z]+) value in |non-unique entry in index )/#
        ) {
            self = .row
        } else if !message.contains("\n"),
            message.contains(#/ (missing from|values differ from|of) index |^wrong # of entries in index /#)
        {
            self = .index
        } else {
            self = .page
        }
    }
}

extension SQLiteStore {
    /// The faults that SQLite finds, at most ten; those of pages come first.
    ///
    /// A read-only connection skips CHECKs, because it does not even parse them
    /// (https://sqlite.org/src/file/src/build.c, `sqlite3AddCheckConstraint`). So this uses a separate writable
    /// connection: reading everything takes long and must not block writes.
    private func faults() async throws(StoreError) -> (messages: [String], includesRows: Bool) {
        if writes != nil {
            do {
                let connection = try ConnectionQueue(directory.database, .readWrite)
                return (try await connection.run { db in try Self.faults(db) }, true)
            } catch let error as SQLiteError where error.code == SQLITE_ERROR {
                // A table of another program has a constraint that only that program can evaluate.
            } catch {
                throw StoreError(error, path: directory.path)
            }
        }
        return (try await readApart { db in try Self.faults(db.connection) }, false)
    }

    private static func faults(_ db: SQLiteConnection) throws -> [String] {
        do {
            return try db.rows("PRAGMA integrity_check(10)").map { try $0[0] }.filter { $0 != "ok" }
        } catch let error as SQLiteError where error.code == SQLITE_CORRUPT {
            return [error.message]
        }
    }

    func integrity() async throws(StoreError) -> CheckFinding {
        let (messages, includesRows) = try await faults()
        let kinds = Set(messages.map(IntegrityFault.init))
        var advice: [String] = []
        if kinds.contains(.page) {
            advice.append(StoreError.damagedDatabaseAdvice)
        } else if kinds.contains(.index) {
            advice.append("The tables themselves are sound: \(repairCommand) rebuilds their indexes")
        }
        if kinds.contains(.row) {
            advice.append("Use sqlite3 to correct or delete rows that violate a constraint of their table")
        }
        return CheckFinding(
            "database",
            messages,
            ok: includesRows ? "its pages, indexes and rows are sound" : "its pages and indexes are sound",
            advice: advice.joined(separator: ". ")
        )
    }

    func isDamaged() async throws(StoreError) -> Bool { try await !faults().messages.isEmpty }

    /// Makes all indexes anew if one of them disagrees with its table.
    ///
    /// - Returns: whether it did.
    /// - Throws: `StoreError.damagedDatabase` if a page is damaged: then nothing may be repaired by what tables say.
    ///   `StoreError.failed` if rows that should be unique are not.
    func rebuildIndexes() async throws(StoreError) -> Bool {
        let kinds = Set(try await faults().messages.map(IntegrityFault.init))
        guard !kinds.contains(.page) else { throw .damagedDatabase(path: directory.path) }
        guard kinds.contains(.index) else { return false }
        do throws(StoreError) {
            try await commit { db in try db.execute("REINDEX") }
        } catch {
            guard case .refused(let reason) = error else { throw error }
            throw .failed(
                "the indexes cannot be rebuilt: \(reason). Use sqlite3 to drop that index, correct the rows, and create it again"
            )
        }
        return true
    }
}
