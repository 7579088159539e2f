internal import CameoStore
internal import Foundation

/// A value by which records are ordered, so that the order is that of an index.
struct RecordKey {
    /// What the index has.
    let value: String
    /// The same as a column of a result.
    let selected: String
    /// The same as a parameter.
    let parameter: @Sendable (Int) -> String

    init(_ field: RecordField) {
        value = field.name
        selected = field.name
        let type = field.kind == .integer ? "bigint" : "text"
        parameter = { "$\($0)::\(type)" }
    }

    /// A text that may be too long for an index.
    init(digestOf field: RecordField) {
        value = "text_digest(\(field.name))"
        selected = "encode(text_digest(\(field.name)), 'hex')"
        parameter = { "decode($\($0), 'hex')" }
    }
}

extension RecordKind {
    var keys: [RecordKey] {
        fields.prefix(keyLength).map { field in
            let isLong = [.source, .sourceFailure].contains(self) && field.name != "scope"
            return isLong ? RecordKey(digestOf: field) : RecordKey(field)
        }
    }

    /// The table into which records go.
    var table: String { self == .attempt ? "earlier_attempt" : rawValue }

    /// The table, or what stands for it.
    var rows: String {
        switch self {
        case .total:
            "(SELECT name, value FROM total WHERE name IN (\(Self.totals.map { "'\($0)'" }.joined(separator: ", ")))) AS total"
        case .number:
            "(\(Self.numbers.map(Self.number).joined(separator: " UNION ALL "))) AS number"
        case .change: "(SELECT unnest(jobs) FROM change) AS change"
        default: rawValue
        }
    }

    private static func number(_ name: String) -> String {
        "SELECT '\(name)' AS name, CASE WHEN is_called THEN last_value ELSE 0 END AS value FROM \(sequence(name))"
    }

    private static func sequence(_ name: String) -> String { name == "source_seen" ? name : "\(name)_id_seq" }

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

    /// Selects a page of records, with the keys after their values; the last parameter is the limit.
    func selection(after cursor: StoreCursor?) -> String {
        let keys = keys
        let columns = (fields.map(\.name) + keys.map(\.selected)).joined(separator: ", ")
        let order = keys.map(\.value).joined(separator: ", ")
        let marks = keys.indices.map { keys[$0].parameter($0 + 1) }.joined(separator: ", ")
        let condition = cursor == nil ? "" : "WHERE (\(order)) > (\(marks))"
        let last = "$\(cursor == nil ? 1 : keys.count + 1)"
        let limit = "ORDER BY \(order) LIMIT \(last)"
        if self == .change {
            // Many are in a row.
            return "SELECT \(columns) FROM changes_since(\(cursor == nil ? "0" : marks), \(last)) ORDER BY \(order)"
        }
        if self == .attempt {
            // Those in outcomes only up to the last of the others: a view of both would be sorted anew for each page.
            let final = cursor == nil ? "" : "AND (id, number) > (\(marks))"
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

extension StoreValue {
    init(_ row: Row, _ index: Int, _ kind: RecordField.Kind) throws {
        switch kind {
        case .integer: self = try (row[index] as Int64?).map(StoreValue.integer) ?? .null
        case .truth: self = .integer(try row[index] ? 1 : 0)
        case .real: self = try (row[index] as Double?).map(StoreValue.real) ?? .null
        case .text, .json: self = try (row[index] as String?).map(StoreValue.text) ?? .null
        case .bytes: self = try (row[index] as Data?).map(StoreValue.bytes) ?? .null
        }
    }
}
