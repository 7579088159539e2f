internal import CameoStore
internal import Foundation
internal import GRDB

extension RecordKind {
    /// Selects records; a further condition and a limit are appended.
    var selection: String {
        let columns = fields.map { $0.kind == .json ? "CAST(\($0.name) AS BLOB)" : $0.name }.joined(separator: ", ")
        return "SELECT \(columns) FROM \(rows)"
    }

    /// The table, or what stands for it.
    var rows: String {
        switch self {
        case .total:
            "(SELECT name, value FROM total WHERE name IN (\(Self.totals.map { "'\($0)'" }.joined(separator: ", "))))"
        case .number:
            """
            (SELECT 'source_seen' AS name, value FROM sequence WHERE name = 'source_seen'
              UNION ALL SELECT name, coalesce((SELECT seq FROM sqlite_sequence WHERE sqlite_sequence.name = numbered.name), 0)
                FROM (SELECT 'job' AS name UNION ALL SELECT 'upload') AS numbered)
            """
        default: rawValue
        }
    }

    var keys: ArraySlice<RecordField> { fields.prefix(keyLength) }

    /// Inserts a record. Rows that the tables begin with are replaced.
    var insertion: String {
        var columns = fields.map(\.name)
        // A blob that is no text would be refused by the type of the column.
        var values = fields.map { $0.kind == .json ? "CAST(? AS TEXT)" : "?" }
        if self == .blob {
            columns.append("data")
            values.append("?")
        }
        let insert = """
            INSERT INTO \(rawValue)(\(columns.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))
            """
        guard [.queueCount, .epoch, .total].contains(self) else { return insert }
        let changes = columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        return "\(insert) ON CONFLICT(\(columns[0])) DO UPDATE SET \(changes)"
    }
}

extension StoreValue {
    init(_ row: Row, _ index: Int, _ kind: RecordField.Kind) {
        guard !row.hasNull(atIndex: index) else {
            self = .null
            return
        }
        switch kind {
        case .integer, .truth: self = .integer(row[index])
        case .real: self = .real(row[index])
        case .text: self = .text(row[index])
        case .bytes: self = .bytes(row[index])
        case .json:
            // Text that is not UTF-8 would be returned repaired, as a different request.
            let data: Data = row[index]
            self = String(validating: data, as: UTF8.self).map(StoreValue.text) ?? .bytes(data)
        }
    }

    var stored: (any DatabaseValueConvertible)? {
        switch self {
        case .null: nil
        case .integer(let number): number
        case .real(let number): number
        case .text(let text): text
        case .bytes(let data): data
        }
    }

    /// The form of a cursor.
    var key: String {
        switch self {
        case .integer(let number): String(number)
        case .text(let text): text
        case .null, .real, .bytes: ""
        }
    }
}
