internal import CameoStore
internal import Foundation

extension RecordKind {
    /// Whether a record has a value that no array takes.
    var isInsertedOneByOne: Bool {
        self == .blob || fields.contains { [.real, .bytes].contains($0.kind) }
    }

    /// Inserts many records with one statement.
    func insertion(of records: [StoreRecord]) throws -> Connection.Statement {
        let types = fields.enumerated().map { index, field in
            switch field.kind {
            case .integer: "$\(index + 1)::bigint[]"
            case .truth: "$\(index + 1)::boolean[]"
            default: "$\(index + 1)::text[]"
            }
        }
        let names = fields.map(\.name).joined(separator: ", ")
        let columns = self == .change ? "last, jobs, states, at" : names
        let values =
            self == .change
            ? "seq, ARRAY[job_id], ARRAY[state]::smallint[], at"
            : fields.map { $0.kind == .json ? "\($0.name)::json" : $0.name }.joined(separator: ", ")
        return .init(
            """
            INSERT INTO \(table)(\(columns)) OVERRIDING SYSTEM VALUE
            SELECT \(values) FROM unnest(\(types.joined(separator: ", "))) AS record(\(names))\(replacement)
            """,
            try fields.indices.map { index in try array(records.map { $0.values[index] }, fields[index]) }
        )
    }

    /// Inserts one record.
    func insertion(of record: StoreRecord) throws -> Connection.Statement {
        var names = fields.map(\.name)
        var values: [(any SQLConvertible)?] = try zip(fields, record.values).map { field, value in
            try parameter(value, field)
        }
        if self == .blob {
            names.append("data")
            values.append(record.bytes)
        }
        let marks = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        return .init(
            """
            INSERT INTO \(table)(\(names.joined(separator: ", "))) OVERRIDING SYSTEM VALUE VALUES (\(marks))
            """,
            values
        )
    }

    /// Sets one of the highest numbers issued.
    static func setting(_ record: StoreRecord) throws -> Connection.Statement {
        guard case .text(let name) = record.values[0], case .integer(let value) = record.values[1] else {
            throw StoreError.failed("a number has no name or no value")
        }
        let sequence = name == "source_seen" ? name : "\(name)_id_seq"
        return .init("SELECT setval('\(sequence)', $1, $2)", [max(1, value), value > 0])
    }

    /// Replaces rows that the tables begin with.
    private var replacement: String {
        guard [.queueCount, .epoch, .total].contains(self) else { return "" }
        let changes = fields.dropFirst().map { "\($0.name) = excluded.\($0.name)" }.joined(separator: ", ")
        return "\nON CONFLICT (\(fields[0].name)) DO UPDATE SET \(changes)"
    }

    private func array(_ values: [StoreValue], _ field: RecordField) throws -> SQLArray {
        switch field.kind {
        case .integer: SQLArray(try values.map { value in try parameter(value, field) as? Int64 })
        case .truth: SQLArray(values.map { $0 == .integer(1) })
        default: SQLArray(try values.map { value in try parameter(value, field) as? String })
        }
    }

    private func parameter(_ value: StoreValue, _ field: RecordField) throws -> (any SQLConvertible)? {
        switch (value, field.kind) {
        case (.null, _): nil
        case (.integer(let number), .truth): number == 1
        case (.integer(let number), _): number
        case (.real(let number), _): number
        case (.text(let text), _): text
        case (.bytes(let data), .bytes): data
        case (.bytes, _):
            throw StoreError.refused(reason: "PostgreSQL keeps UTF-8 only, which its \(field.name) is not")
        }
    }
}
