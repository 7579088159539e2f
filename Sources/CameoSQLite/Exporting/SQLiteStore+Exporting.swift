internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation

// What a store in a folder reads for an export, and writes for an import.

extension RecordKind {
    /// The table, or what stands for it.
    fileprivate var rows: String {
        switch self {
        case .total:
            "(SELECT name, value FROM total WHERE name IN (\(Self.totals.map { "'\($0)'" }.joined(separator: ", "))))"
        case .number:
            """
            (SELECT 'source_seen' AS name, value FROM sequence WHERE name = 'source_seen'
              UNION ALL SELECT name, coalesce((SELECT seq FROM sqlite_sequence WHERE sqlite_sequence.name = numbered.name), 0)
                FROM (SELECT 'job' AS name UNION ALL SELECT 'upload') AS numbered)
            """
        case .blob: "(SELECT * FROM blob WHERE NOT (\(isOnlySetAside)))"
        case .epoch: "(SELECT name, since FROM epoch WHERE name = 'readings')"
        default: rawValue
        }
    }

    /// Selects a page; the parameters are the key of the last record, if there is one, and the limit.
    fileprivate func selection(isFirst: Bool) -> String {
        let columns = fields.map { $0.kind == .json ? "CAST(\($0.name) AS BLOB)" : $0.name }.joined(separator: ", ")
        let names = fields.prefix(keyLength).map(\.name).joined(separator: ", ")
        let marks = fields.prefix(keyLength).map { _ in "?" }.joined(separator: ", ")
        let condition = isFirst ? "" : "WHERE (\(names)) > (\(marks))"
        return "SELECT \(columns) FROM \(rows) \(condition) ORDER BY \(names) LIMIT ?"
    }

    /// Inserts a record.
    fileprivate var insertion: String {
        var columns = fields.map(\.name)
        // A blob that is no text would be refused by the type of the column.
        var values = fields.map { $0.kind == .json ? "CAST(? AS TEXT)" : "?" }
        if self == .blob {
            columns.append("data")
            values.append("?")
        }
        // A job that has ended since an import that was broken off does not wait again.
        let source =
            self == .task
            ? "SELECT \(values.joined(separator: ", ")) WHERE NOT EXISTS (SELECT 1 FROM outcome WHERE id = ?1)"
            : "VALUES (\(values.joined(separator: ", ")))"
        let insert = "INSERT INTO \(rawValue)(\(columns.joined(separator: ", "))) \(source)"
        return "\(insert) \(replacement)"
    }
}

extension SQLiteTransaction {
    package func records(of kind: RecordKind, after last: StoreRecord?, limit: Int) throws -> [StoreRecord] {
        let fields = kind.fields
        let key = try last.map { last in
            try zip(fields, last.values).prefix(kind.keyLength).map { try $1.parameter(of: $0, dialect) }
        }
        var (records, size) = ([StoreRecord](), 0)
        try connection.run(kind.selection(isFirst: last == nil), (key ?? []) + [limit]) { row in
            let values = try fields.indices.map { try StoreValue(row, $0, fields[$0].kind, dialect) }
            let record = StoreRecord(values: values)
            records.append(record)
            size += record.size
            return size < RecordKind.pageSize
        }
        return records
    }
}

extension SQLiteStore: ExportableStore {
    package func export(
        includingBytes: Bool,
        _ emit: @escaping @Sendable (RecordKind, [StoreRecord]) throws -> Void
    ) async throws(StoreError) {
        let directory = directory
        try await readApart { db in
            let addBytes = { (blobs: [StoreRecord]) in
                try blobs.map { blob -> StoreRecord in
                    let digest = try blob.digest
                    let inline: Data? = try db.value("SELECT data FROM blob WHERE digest = ?1", [digest.hex])
                    guard let data = try inline ?? BlobFiles.contents(of: directory.blobFile(digest)) else {
                        throw StoreError.damagedBlob(digest: digest.description, isMissing: true)
                    }
                    guard BlobDigest(of: data) == digest else {
                        throw StoreError.damagedBlob(digest: digest.description)
                    }
                    return StoreRecord(values: blob.values, bytes: data)
                }
            }
            // One at a time, because they may be large.
            try db.export(emit, blobsAtATime: 1, addBytes: includingBytes ? addBytes : nil)
        }
    }

    package func beginImport(of mark: String, isAddition: Bool) async throws(StoreError) -> Bool {
        let location = location
        return try await commit { db in try db.beginImport(of: mark, isAddition: isAddition, at: location) }
    }

    package func receive(_ records: [StoreRecord], of kind: RecordKind) async throws(StoreError) {
        let ready = kind == .blob ? try await place(records) : records
        try await commit { db in
            guard kind != .number else { return try Self.raise(ready, db) }
            let doors = [.job, .upload].contains(kind) ? ["job_id", "upload_id", "upload_enqueues"] : []
            try Self.without(triggers: doors, db) {
                let insertion = kind.insertion
                for record in ready {
                    let values = try zip(kind.fields, record.values).map { try $1.parameter(of: $0, db.dialect) }
                    try db.execute(insertion, values + (kind == .blob ? [record.bytes] : []))
                }
            }
        }
    }

    /// Makes the bytes of blobs that are not there durable, unless they go into their rows.
    private func place(_ blobs: [StoreRecord]) async throws(StoreError) -> [StoreRecord] {
        var new = try await read { db in try db.unknown(blobs) }
        for index in new.indices {
            guard let bytes = new[index].bytes else { continue }
            let (digest, type) = (try new[index].digest, new[index].mediaType)
            new[index].bytes = try await prepare(bytes, digest: digest, mediaType: type).data
        }
        return new
    }

    /// Runs a body without triggers that refuse what only an import may insert.
    private static func without(triggers: [String], _ db: SQLiteTransaction, _ body: () throws -> Void) throws {
        let find = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?1"
        var texts: [String] = []
        for name in triggers {
            guard let text: String = try db.value(find, [name]) else { continue }
            texts.append(text)
            try db.execute("DROP TRIGGER \(name)")
        }
        try body()
        for text in texts { try db.execute(text) }
    }

    /// Raises the highest numbers issued.
    private static func raise(_ numbers: [StoreRecord], _ db: SQLiteTransaction) throws {
        for record in numbers {
            guard case .text(let name) = record.values[0], case .integer(let value) = record.values[1] else {
                throw StoreError.refused(reason: "a number has no name or no value")
            }
            guard name != "source_seen" else {
                try db.execute("UPDATE sequence SET value = max(value, ?1) WHERE name = 'source_seen'", [value])
                continue
            }
            // Nobody accepts what is about to come.
            if name == "job" { try noteAccepted(through: value, db) }
            guard value > (try db.value("SELECT seq FROM sqlite_sequence WHERE name = ?1", [name]) ?? 0) else {
                continue
            }
            try db.execute("DELETE FROM sqlite_sequence WHERE name = ?1", [name])
            try db.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (?1, ?2)", [name, value])
        }
    }

    package func endImport(of mark: String) async throws(StoreError) {
        try await commit { db in
            // Up to the first that nobody had accepted.
            try db.execute(
                """
                UPDATE sequence SET value = coalesce(
                  (SELECT min(id) - 1 FROM job WHERE id NOT IN (SELECT id FROM task)
                    AND id NOT IN (SELECT id FROM outcome)),
                  (SELECT max(id) FROM job), 0)
                WHERE name = 'accepted'
                """
            )
            try db.execute(Share.entering)
            _ = try Counters.rebuild(db)
            try db.forgetImport(of: mark)
        }
    }
}
