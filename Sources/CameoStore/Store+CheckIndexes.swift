internal import GRDB

// What SQLite itself finds wrong with the file, and what mends that.
extension Store {
    /// Faults that a check reads, at most.
    private static let faults = 10

    func integrity() async throws(StoreError) -> CheckFinding {
        let sound = writes == nil ? "its pages and indexes are sound" : "its pages, indexes and rows are sound"
        return try await examine { db in try Self.integrity(db, sound: sound) }
    }

    func isDamaged() async throws(StoreError) -> Bool {
        try await examine { db in try Self.isDamaged(db) }
    }

    /// A connection that may only read leaves the CHECKs out: it does not even parse them
    /// (https://sqlite.org/src/file/src/build.c, `sqlite3AddCheckConstraint`).
    private func examine<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        writes == nil ? try await read(body) : try await writeOutsideTransaction(body)
    }

    private static func integrity(_ db: Database, sound: String) throws -> CheckFinding {
        let faults = try IntegrityFault.found(db, atMost: faults)
        let (names, others) = faults.reduce(into: (Set<String>(), false)) { sum, fault in
            if case .index(let name, _) = fault { sum.0.insert(name) } else { sum.1 = true }
        }
        let doubled = others ? [] : try names.sorted().compactMap { try doubledRows(of: $0, db) }
        return CheckFinding(
            "database",
            doubled + faults.map(\.message),
            ok: sound,
            mend: others || !doubled.isEmpty
                ? StoreError.mendingDatabase
                : "The tables themselves are sound: \(repairCommand) rebuilds their indexes"
        )
    }

    static func isDamaged(_ db: Database) throws -> Bool { try !IntegrityFault.found(db, atMost: 1).isEmpty }

    /// Says so if the rows that a unique index is of are no longer unique. Which of them is right nobody can tell; but of
    /// jobs that stand for one key a repair lets the first stand.
    private static func doubledRows(of index: String, _ db: Database) throws -> String? {
        guard index != standingIndex else { return nil }
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT tables.name AS "table", indexes.partial AS is_partial,
                  (SELECT group_concat('"' || name || '"', ', ') FROM pragma_index_info(indexes.name)) AS columns
                FROM sqlite_schema AS tables, pragma_index_list(tables.name) AS indexes
                WHERE tables.type = 'table' AND indexes.name = ? AND indexes."unique" = 1
                """,
            arguments: [index]
        )
        // The rest is of other programs: what a partial index of theirs leaves out is not told here.
        guard let row, row["is_partial"] == 0, let columns = row["columns"] as String? else { return nil }
        let table: String = row["table"]
        let doubled = try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM (SELECT 1 FROM "\(table)" NOT INDEXED GROUP BY \(columns) HAVING count(*) > 1)
                """
        )
        guard let doubled, doubled > 0 else { return nil }
        return "the table \(table) has \(doubled) times several rows of the same \(columns)"
    }
}
