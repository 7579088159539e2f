package import CameoStore

extension PostgreSQLStore {
    package func records(of kind: RecordKind, after cursor: StoreCursor?, limit: Int)
        async throws(StoreError)
        -> [StoreRecord]
    {
        try await read { db in
            let fields = kind.fields
            let values: [(any SQLConvertible)?] = (cursor?.keys ?? []) + [limit]
            return try db.query(kind.selection(after: cursor), values).map { row in
                let keys: [String] = try (0..<kind.keyLength).map { try row[fields.count + $0] }
                return StoreRecord(
                    values: try fields.indices.map { try StoreValue(row, $0, fields[$0].kind) },
                    cursor: StoreCursor(keys)
                )
            }
        }
    }

    package func count(of kind: RecordKind) async throws(StoreError) -> Int {
        try await read { db in
            try db.execute("SELECT set_config('statement_timeout', '0', true)")
            return try db.value("SELECT count(*) FROM \(kind.rows)") ?? 0
        }
    }
}
