internal import CameoStore
internal import GRDB

// Reports the faults that SQLite finds in the file, and how to fix them.
extension SQLiteStore {
    /// The maximum number of faults that a check reads.
    private static let faults = 10

    func integrity() async throws(StoreError) -> CheckFinding {
        try await examine { db, scope in try Self.integrity(db, scope) }
    }

    func isDamaged() async throws(StoreError) -> Bool {
        try await examine { db, _ in try !IntegrityFault.found(db, atMost: 1).isEmpty }
    }

    private enum Scope {
        case pagesAndIndexes
        /// Pages, indexes and the rows' constraints.
        case all

        var ok: String {
            switch self {
            case .pagesAndIndexes: "its pages and indexes are sound"
            case .all: "its pages, indexes and rows are sound"
            }
        }
    }

    /// A read-only connection skips CHECKs, because it does not even parse them
    /// (https://sqlite.org/src/file/src/build.c, `sqlite3AddCheckConstraint`). So this uses a separate writable
    /// connection: reading everything takes long and must not block writes.
    private func examine<Value: Sendable>(
        _ body: @escaping @Sendable (Database, Scope) throws -> Value
    ) async throws(StoreError) -> Value {
        guard writes != nil else { return try await readApart { db in try body(db, .pagesAndIndexes) } }
        do {
            let connection = try Connection.open(directory.database, .readWrite)
            defer { withExtendedLifetime(connection) {} }
            return try await withCheckedThrowingContinuation { continuation in
                connection.asyncWriteWithoutTransaction { db in
                    continuation.resume(with: Result { try body(db, .all) })
                }
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // A table of another program has a constraint that only that program can evaluate.
            return try await readApart { db in try body(db, .pagesAndIndexes) }
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    private static func integrity(_ db: Database, _ scope: Scope) throws -> CheckFinding {
        let faults = try IntegrityFault.found(db, atMost: faults)
        let rebuildable = faults.isEmpty ? [] : try IntegrityFault.rebuildableIndexes(db)
        let duplicates = try rebuildable.sorted().compactMap { try duplicateRows(of: $0, db) }
        // An index that a rebuild cannot fix is on a damaged page or covers rows on one.
        let isBeyondRepair = faults.contains { fault in
            switch fault {
            case .index(let name, _): !rebuildable.contains(name)
            case .row: false
            case .page: true
            }
        }
        var advice: [String] = []
        if isBeyondRepair || !duplicates.isEmpty {
            advice.append(StoreError.damagedDatabaseAdvice)
        } else if !rebuildable.isEmpty {
            advice.append("The tables themselves are sound: \(repairCommand) rebuilds their indexes")
        }
        if faults.contains(where: { if case .row = $0 { true } else { false } }) {
            advice.append("Use sqlite3 to correct or delete rows that violate a constraint of their table")
        }
        return CheckFinding(
            "database",
            duplicates + faults.map(\.message),
            ok: scope.ok,
            advice: advice.joined(separator: ". ")
        )
    }

    /// Reports rows of a unique index that are no longer unique. Nothing tells which of them is right, except that a
    /// repair keeps the first of several waiting jobs with one key.
    private static func duplicateRows(of index: String, _ db: Database) throws -> String? {
        guard index != uniqueIndex else { return nil }
        let table = try String.fetchOne(
            db,
            sql: """
                SELECT tables.name FROM sqlite_schema AS tables, pragma_index_list(tables.name) AS indexes
                WHERE tables.type = 'table' AND indexes.name = ? AND indexes."unique" = 1 AND NOT indexes.partial
                """,
            arguments: [index]
        )
        // Partial indexes and expressions occur only in other programs' indexes, and are not examined.
        let columns = try Optional<String>.fetchAll(
            db,
            sql: "SELECT name FROM pragma_index_info(?)",
            arguments: [index]
        )
        let names = columns.compactMap { $0?.sqlIdentifier }
        guard let table, !names.isEmpty, names.count == columns.count else { return nil }
        let list = names.joined(separator: ", ")
        // NULLs are never duplicates of each other.
        let doubled = try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM (
                  SELECT 1 FROM \(table.sqlIdentifier) NOT INDEXED
                  WHERE \(names.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))
                  GROUP BY \(list) HAVING count(*) > 1)
                """
        )
        guard let doubled, doubled > 0 else { return nil }
        return "the table \(table) has duplicate values of \(list) (\(doubled))"
    }
}

extension String {
    /// The name quoted as an SQL identifier. GRDB's `quotedDatabaseIdentifier` does not escape quotes in the name.
    var sqlIdentifier: String { "\"\(replacing("\"", with: "\"\""))\"" }
}
