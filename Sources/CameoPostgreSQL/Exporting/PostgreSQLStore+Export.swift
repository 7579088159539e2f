internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import Synchronization

// What a store in a database reads for an export.

extension RecordKind {
    /// What records are ordered by, as an index has it: of a text that may be too long for one, its digest.
    private func order(_ value: (_ index: Int, RecordField) -> String) -> String {
        fields.prefix(keyLength).enumerated().map { index, field in
            let isLong = [.source, .sourceFailure].contains(self) && field.name != "scope"
            return isLong ? "text_digest(\(value(index, field)))" : value(index, field)
        }
        .joined(separator: ", ")
    }

    /// The table into which records go.
    var table: String { self == .attempt ? "earlier_attempt" : rawValue }

    /// The table, or what stands for it.
    private var rows: String {
        switch self {
        case .total:
            "(SELECT name, value FROM total_now WHERE name IN (\(Self.totals.map { "'\($0)'" }.joined(separator: ", ")))) AS total"
        case .number:
            "(\(Self.numbers.map(Self.number).joined(separator: " UNION ALL "))) AS number"
        // With what was counted and not yet added up.
        case .queueCount: "queue_total AS queue_count"
        case .blob: "(SELECT * FROM blob WHERE NOT (\(isOnlySetAside))) AS blob"
        case .epoch: "(SELECT name, since FROM epoch WHERE name = 'readings') AS epoch"
        default: rawValue
        }
    }

    private static func number(_ name: String) -> String {
        "SELECT '\(name)' AS name, CASE WHEN is_called THEN last_value ELSE 0 END AS value FROM \(sequence(name))"
    }

    static func sequence(_ name: String) -> String { name == "source_seen" ? name : "\(name)_id_seq" }

    /// What makes records large.
    private var size: String? {
        switch self {
        case .job: "octet_length(request::text)"
        case .upload: "coalesce(octet_length(data), 0) + octet_length(request::text)"
        case .source: "octet_length(uri) + octet_length(fields::text) + octet_length(hops::text)"
        case .firstReceipt: "octet_length(receipt::text)"
        default: nil
        }
    }

    /// Selects a page; the parameters are the key of the last record, if there is one, and the limit.
    fileprivate func selection(isFirst: Bool) -> String {
        let columns = fields.map(\.name).joined(separator: ", ")
        let order = order { $1.name }
        let marks = self.order { "$\($0 + 1)::\($1.kind == .integer ? "bigint" : "text")" }
        let condition = isFirst ? "" : "WHERE (\(order)) > (\(marks))"
        let last = "$\(isFirst ? 1 : keyLength + 1)"
        let limit = "ORDER BY \(order) LIMIT \(last)"
        if self == .change {
            // Many are in a row.
            return "SELECT \(columns) FROM changes_since(\(isFirst ? "0" : marks), \(last)) ORDER BY \(order)"
        }
        if self == .attempt {
            // Those in outcomes only up to the last of the others: a view of both would be sorted anew for each page.
            let final = isFirst ? "" : "AND (id, number) > (\(marks))"
            return """
                WITH earlier AS MATERIALIZED (SELECT \(Schema.attemptColumns) FROM earlier_attempt \(condition) \(limit))
                SELECT \(columns) FROM (
                  SELECT * FROM earlier
                  UNION ALL
                  (SELECT \(Schema.finalAttempt) FROM outcome
                    WHERE number IS NOT NULL \(final) AND id <= (
                      SELECT CASE WHEN count(*) < \(last) THEN 9223372036854775807 ELSE max(job_id) END FROM earlier)
                    ORDER BY id LIMIT \(last))) AS attempt
                \(limit)
                """
        }
        guard let size else { return "SELECT \(columns) FROM \(rows) \(condition) \(limit)" }
        return """
            SELECT \(columns) FROM (
              SELECT *, sum(\(size)) OVER (ORDER BY \(order)) - (\(size)) AS bytes_before
              FROM (SELECT * FROM \(rows) \(condition) \(limit)) AS first) AS page
            WHERE bytes_before < \(Self.pageSize) ORDER BY \(order)
            """
    }
}

extension PostgreSQLStore {
    package func export(
        includingBytes: Bool,
        _ emit: @escaping @Sendable (RecordKind, [StoreRecord]) throws -> Void
    ) async throws(StoreError) {
        let (storage, location) = (storage, location)
        let hasBegun = Atomic(false)
        try await read { db in
            // A read whose connection was lost runs again, and what was said cannot be taken back.
            guard !hasBegun.load(ordering: .relaxed) else {
                throw StoreError.unreachable(location: location, reason: "the connection was lost during the export")
            }
            try db.execute(
                """
                SELECT set_config('statement_timeout', '0', true),
                  set_config('idle_in_transaction_session_timeout', '0', true)
                """
            )
            let addBytes = { (blobs: [StoreRecord]) in try db.withBytes(blobs, storage) }
            let emit = { (kind: RecordKind, records: [StoreRecord]) in
                hasBegun.store(true, ordering: .relaxed)
                try emit(kind, records)
            }
            try db.export(emit, blobsAtATime: Self.transfers, addBytes: includingBytes ? addBytes : nil)
        }
    }

    /// How many blobs' bytes are on the way at a time.
    static let transfers = 8
}

extension PostgreSQLTransaction {
    package func records(of kind: RecordKind, after last: StoreRecord?, limit: Int) throws -> [StoreRecord] {
        let fields = kind.fields
        let key = try last.map { last in
            try zip(fields, last.values).prefix(kind.keyLength).map { try $1.parameter(of: $0, dialect) }
        }
        let page = try repeating { try query(kind.selection(isFirst: last == nil), (key ?? []) + [limit]) }
        return try page.map { row in
            StoreRecord(values: try fields.indices.map { try StoreValue(row, $0, fields[$0].kind, dialect) })
        }
    }

    /// Adds the bytes, from the rows or from the storage.
    fileprivate func withBytes(_ blobs: [StoreRecord], _ storage: (any ByteStorage)?) throws -> [StoreRecord] {
        let digests = SQLArray(try blobs.map { try $0.digest.hex })
        let inRows = try repeating {
            try query("SELECT digest, data FROM blob WHERE digest = ANY($1::text[]) AND data IS NOT NULL", [digests])
        }
        var bytes: [String: Data] = try inRows.reduce(into: [:]) { try $0[$1["digest"]] = $1["data"] }
        let others = try blobs.filter { try bytes[$0.digest.hex] == nil }
        let outside = try others.map { blob -> (digest: BlobDigest, size: Int) in
            guard case .integer(let size) = blob.values[1] else { throw StoreError.failed("a blob has no size") }
            return (try blob.digest, Int(size))
        }
        if let first = outside.first {
            guard let storage else { throw StoreError.damagedBlob(digest: first.digest.description) }
            // This thread belongs to the connection and may block; the transfers run beside it.
            let read: [String: Data] = try blocking {
                try await withThrowingTaskGroup(of: (String, Data).self) { group in
                    for (digest, size) in outside {
                        group.addTask { (digest.hex, try await storage.data(of: digest, size: size)) }
                    }
                    return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                }
            }
            bytes.merge(read) { $1 }
        }
        return try blobs.map { StoreRecord(values: $0.values, bytes: bytes[try $0.digest.hex]) }
    }
}
