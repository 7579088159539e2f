internal import CameoModel
internal import CameoQueue
package import CameoStore

// What a store in a database writes for an import.

extension PostgreSQLStore: ExportableStore {
    package func beginImport(of mark: String, isAddition: Bool) async throws(StoreError) -> Bool {
        let location = location
        return try await importing { db in try db.beginImport(of: mark, isAddition: isAddition, at: location) }
    }

    package func receive(_ records: [StoreRecord], of kind: RecordKind) async throws(StoreError) {
        let ready = kind == .blob ? try await place(records) : records
        guard !ready.isEmpty else { return }
        try await importing { db in try db.insert(ready, of: kind) }
    }

    package func endImport(of mark: String) async throws(StoreError) {
        try await importing { db in
            try db.foldCounts()
            let heads = """
                UPDATE lane SET head = (
                  SELECT min(rank) FROM task WHERE task.lane = lane.id AND task.\(TaskRow.isReady))
                WHERE key <> 0 OR tenant <> 0
                """
            let feed = "UPDATE feed SET last = (SELECT coalesce(max(last), 0) FROM change)"
            let tables = [
                ("queue", "id"), ("key", "id"), ("tenant", "id"), ("lane", "id"), ("batch", "id"), ("label", "id"),
                ("forget", "id"),
                ("delivery", "seq"), ("batch_seal", "seq"),
            ]
            // Lets the numbers of new rows follow those that are there.
            let numberings = tables.map { table, column in
                """
                SELECT setval(pg_get_serial_sequence('\(table)', '\(column)'), coalesce(max(\(column)), 1),
                  max(\(column)) IS NOT NULL) FROM \(table)
                """
            }
            let statements = [db.correctionOfCounts, heads, Share.entering, feed] + numberings
            try db.execute(statements.map { Connection.Statement($0) })
            // Those that nobody had accepted.
            try db.execute("INSERT INTO arrival \(RowFaults.lost) ON CONFLICT DO NOTHING")
            try db.forgetImport(of: mark)
        }
        // Until autovacuum looks at them, the planner would take the tables for empty.
        let tables = RecordKind.allCases.filter { $0 != .number }.map(\.table).joined(separator: ", ")
        _ = try await importing { db in try db.execute("ANALYZE \(tables)") }
    }

    /// Makes the bytes of blobs that are not there durable, unless they go into their rows.
    private func place(_ blobs: [StoreRecord]) async throws(StoreError) -> [StoreRecord] {
        var new = try await read { db in try db.unknown(blobs) }
        guard let storage, try await ownsBytes() else { return new }
        let large = new.indices.filter { new[$0].bytes?.count ?? 0 > Self.inlineLimit }
        let blobs = large.map { new[$0] }
        for start in stride(from: 0, to: blobs.count, by: Self.transfers) {
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for blob in blobs[start...].prefix(Self.transfers) {
                        group.addTask {
                            guard let bytes = blob.bytes else { return }
                            _ = try await storage.put(
                                bytes,
                                as: blob.digest,
                                mediaType: blob.mediaType,
                                existing: .kept
                            )
                        }
                    }
                    try await group.waitForAll()
                }
            } catch {
                throw StoreError(error, location: storage.location)
            }
        }
        for index in large { new[index].bytes = nil }
        return new
    }

    /// A transaction that nobody waits for, and that may take as long as there are rows.
    private func importing<Value: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await transaction { db in
            try db.execute("SELECT set_config('statement_timeout', '0', true)")
            return try body(db)
        }
    }
}

extension PostgreSQLTransaction {
    fileprivate func insert(_ records: [StoreRecord], of kind: RecordKind) throws {
        func integers(_ column: String) -> [Int64] {
            let place = kind.fields.firstIndex { $0.name == column }
            return records.compactMap { record in
                if let place, case .integer(let value) = record.values[place] { value } else { nil }
            }
        }
        switch kind {
        case .number: try execute(try records.map(RecordKind.raising))
        case .upload:
            try execute("ALTER TABLE upload DISABLE TRIGGER upload_enqueues")
            try execute(try kind.insertions(of: records))
            try execute("ALTER TABLE upload ENABLE TRIGGER upload_enqueues")
        case .job:
            try execute(try kind.insertions(of: records))
            // What becomes of them comes with later records. Those of which nothing does arrive at the end.
            try execute("DELETE FROM arrival WHERE id = ANY($1::bigint[])", [SQLArray(integers("id"))])
        case .outcome, .attempt:
            let times = integers(kind == .outcome ? "finalized_at" : "finished_at")
            try Partitions.make(for: times, of: kind.table, self)
            try execute(try kind.insertions(of: records))
        default: try execute(try kind.insertions(of: records))
        }
    }
}

extension RecordKind {
    /// Inserts records: with one statement, unless they have a value that no array takes.
    fileprivate func insertions(of records: [StoreRecord]) throws -> [Connection.Statement] {
        guard self != .blob, !fields.contains(where: { [.real, .bytes].contains($0.kind) }) else {
            return try records.map { try insertion(of: $0) }
        }
        let rows = try records.map { record in
            try zip(fields, record.values).map { try $1.parameter(of: $0, PostgreSQLTransaction.dialect) }
        }
        let (names, values) =
            self == .change
            ? ("last, jobs, states, at", "seq, ARRAY[job_id], ARRAY[state]::smallint[], at")
            : (self.names.list, RowLists.selection(fields))
        return [
            .init(
                """
                INSERT INTO \(table)(\(names)) OVERRIDING SYSTEM VALUE
                SELECT \(values) FROM \(RowLists.source(fields)) \(self == .task ? Self.unlessEnded : "") \(replacement)
                """,
                RowLists.values(rows)
            )
        ]
    }

    /// Inserts one record.
    private func insertion(of record: StoreRecord) throws -> Connection.Statement {
        var names = fields.map(\.name)
        var values: [(any SQLBindable)?] = try zip(fields, record.values).map { field, value in
            try value.parameter(of: field, PostgreSQLTransaction.dialect)
        }
        if self == .blob {
            names.append("data")
            values.append(record.bytes)
        }
        let marks = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        return .init(
            """
            INSERT INTO \(table)(\(names.joined(separator: ", "))) OVERRIDING SYSTEM VALUE VALUES (\(marks)) \(replacement)
            """,
            values
        )
    }

    /// A job that has ended since an import that was broken off does not wait again.
    private static let unlessEnded = "WHERE NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = new.id)"

    /// Raises one of the highest numbers issued.
    fileprivate static func raising(_ record: StoreRecord) throws -> Connection.Statement {
        guard case .text(let name) = record.values[0], numbers.contains(name),
            case .integer(let value) = record.values[1]
        else { throw StoreError.refused(reason: "a number has no name or no value") }
        let sequence = sequence(name)
        return .init(
            """
            SELECT setval('\(sequence)', $1) FROM \(sequence)
            WHERE $1 > CASE WHEN is_called THEN last_value ELSE 0 END
            """,
            [value]
        )
    }
}
