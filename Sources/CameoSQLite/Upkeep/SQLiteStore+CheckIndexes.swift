internal import CameoStore
internal import GRDB

// What SQLite itself finds wrong with the file, and what mends that.
extension SQLiteStore {
    /// Faults that a check reads, at most.
    private static let faults = 10

    func integrity() async throws(StoreError) -> CheckFinding {
        try await examine { db, scope in try Self.integrity(db, scope) }
    }

    func isDamaged() async throws(StoreError) -> Bool {
        try await examine { db, _ in try !IntegrityFault.found(db, atMost: 1).isEmpty }
    }

    /// What an examination sees.
    private enum Scope {
        case pagesAndIndexes
        /// And whether rows keep the rules of their tables.
        case all

        var ok: String {
            switch self {
            case .pagesAndIndexes: "its pages and indexes are sound"
            case .all: "its pages, indexes and rows are sound"
            }
        }
    }

    /// A connection that may only read leaves CHECKs out: it does not even parse them
    /// (https://sqlite.org/src/file/src/build.c, `sqlite3AddCheckConstraint`). So this is one that may write, of its own:
    /// to read everything takes long, and nobody's writes are to wait for it.
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
            // A table of another program's has a rule that only this program can evaluate.
            return try await readApart { db in try body(db, .pagesAndIndexes) }
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    private static func integrity(_ db: Database, _ scope: Scope) throws -> CheckFinding {
        let faults = try IntegrityFault.found(db, atMost: faults)
        let rebuildable = faults.isEmpty ? [] : try IntegrityFault.rebuildableIndexes(db)
        let doubled = try rebuildable.sorted().compactMap { try doubledRows(of: $0, db) }
        // An index that no rebuilding mends lies on a damaged page, or is of one.
        let isBeyondRepair = faults.contains { fault in
            switch fault {
            case .index(let name, _): !rebuildable.contains(name)
            case .row: false
            case .page: true
            }
        }
        var advice: [String] = []
        if isBeyondRepair || !doubled.isEmpty {
            advice.append(StoreError.damagedDatabaseAdvice)
        } else if !rebuildable.isEmpty {
            advice.append("The tables themselves are sound: \(repairCommand) rebuilds their indexes")
        }
        if faults.contains(where: { if case .row = $0 { true } else { false } }) {
            advice.append("Rows that break a rule of their table are to be corrected, or deleted, by sqlite3")
        }
        return CheckFinding(
            "database",
            doubled + faults.map(\.message),
            ok: scope.ok,
            mend: advice.joined(separator: ". ")
        )
    }

    /// Says so if the rows that a unique index is of are no longer unique. Which of them is right nobody can tell; but of
    /// jobs that stand for one key a repair lets the first stand.
    private static func doubledRows(of index: String, _ db: Database) throws -> String? {
        guard index != standingIndex else { return nil }
        let table = try String.fetchOne(
            db,
            sql: """
                SELECT tables.name FROM sqlite_schema AS tables, pragma_index_list(tables.name) AS indexes
                WHERE tables.type = 'table' AND indexes.name = ? AND indexes."unique" = 1 AND NOT indexes.partial
                """,
            arguments: [index]
        )
        // The rest is of other programs: what a partial index of theirs leaves out, or makes of an expression, is not
        // told here.
        let columns = try Optional<String>.fetchAll(
            db,
            sql: "SELECT name FROM pragma_index_info(?)",
            arguments: [index]
        )
        let names = columns.compactMap { $0?.sqlIdentifier }
        guard let table, !names.isEmpty, names.count == columns.count else { return nil }
        let list = names.joined(separator: ", ")
        // Two NULLs are no doubles.
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
        return "the table \(table) has \(doubled) times several rows of the same \(list)"
    }
}

extension String {
    /// Of a table, column or index of anybody's: GRDB's `quotedDatabaseIdentifier` does not double the quotes within.
    var sqlIdentifier: String { "\"\(replacing("\"", with: "\"\""))\"" }
}
