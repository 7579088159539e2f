package import CameoStore
internal import GRDB

extension SQLiteStore {
    package func records(of kind: RecordKind, after cursor: StoreCursor?, limit: Int)
        async throws(StoreError)
        -> [StoreRecord]
    {
        try await read { db in try Self.records(of: kind, after: cursor, limit: limit, db) }
    }

    package func count(of kind: RecordKind) async throws(StoreError) -> Int {
        try await read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM \(kind.rows)") ?? 0 }
    }

    private static func records(
        of kind: RecordKind,
        after cursor: StoreCursor?,
        limit: Int,
        _ db: Database
    ) throws -> [StoreRecord] {
        let fields = kind.fields
        let names = kind.keys.map(\.name).joined(separator: ", ")
        var (condition, arguments) = ("", StatementArguments())
        if let cursor {
            let marks = kind.keys.map { _ in "?" }.joined(separator: ", ")
            condition = " WHERE (\(names)) > (\(marks))"
            for (field, key) in zip(kind.keys, cursor.keys) {
                arguments += field.kind == .integer ? StatementArguments([Int64(key)]) : StatementArguments([key])
            }
        }
        arguments += [limit]
        let statement = try db.cachedStatement(sql: "\(kind.selection)\(condition) ORDER BY \(names) LIMIT ?")
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var (records, size) = ([StoreRecord](), 0)
        while size < RecordKind.pageSize, let row = try rows.next() {
            let values = fields.indices.map { StoreValue(row, $0, fields[$0].kind) }
            let record = StoreRecord(
                values: values,
                cursor: StoreCursor(values.prefix(kind.keyLength).map(\.key))
            )
            records.append(record)
            size += record.size
        }
        return records
    }
}
