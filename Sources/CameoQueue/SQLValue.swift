internal import CameoStore
package import Foundation

/// A parameter of a statement, or what a row has in a column.
package enum SQLValue: Sendable {
    case integer(Int64)
    case real(Double)
    case truth(Bool)
    case text(String)
    case bytes(Data)
    case integers([Int64])
    case texts([String])
    /// A list as an engine writes it.
    case written([UInt8])
}

/// What can be a parameter of a statement.
package protocol SQLBindable: Sendable {
    var sqlValue: SQLValue { get }
}

/// What can be read from a column.
package protocol SQLReadable {
    /// Reads a column; nil if it is NULL.
    ///
    /// - Throws: ``StoreError`` if it holds something else.
    static func read(_ column: Int, of row: QueueRow) throws -> Self?
}

/// A row of a result, which may outlive its transaction. A value of another type than the one that is read is an error, so
/// that no row stops the process.
package struct QueueRow: Sendable {
    private let columns: QueueColumns
    private let values: [SQLValue?]

    package init(_ columns: QueueColumns, _ values: [SQLValue?]) { (self.columns, self.values) = (columns, values) }

    /// The place of a column.
    ///
    /// - Throws: ``StoreError`` if there is none of the name.
    package func place(of column: String) throws -> Int {
        guard let place = columns.places[column] else {
            throw StoreError.failed("a statement has no column \"\(column)\"")
        }
        return place
    }

    /// A value as another type, whose name is for the error.
    private func read<Value>(_ column: Int, as type: String, _ read: (SQLValue) -> Value?) throws -> Value? {
        guard column < values.count else { throw StoreError.failed("a statement has no column \(column)") }
        guard let value = values[column] else { return nil }
        guard let result = read(value) else {
            throw StoreError.failed("column \"\(columns.names[column])\" is not \(type)")
        }
        return result
    }

    // Each reads a column; nil if it is NULL. Each throws a ``StoreError`` if it holds something else.

    /// As it is: for what is only compared, or names its row in another statement.
    package func integer(_ column: Int) throws -> Int64? {
        try read(column, as: "an integer") { if case .integer(let number) = $0 { number } else { nil } }
    }

    package func real(_ column: Int) throws -> Double? {
        try read(column, as: "a number") { value in
            switch value {
            case .integer(let number): Double(number)
            case .real(let number): number
            default: nil
            }
        }
    }

    package func truth(_ column: Int) throws -> Bool? {
        try read(column, as: "true or false") { value in
            switch value {
            case .truth(let truth): truth
            case .integer(let number): number != 0
            default: nil
            }
        }
    }

    package func text(_ column: Int) throws -> String? {
        try read(column, as: "text") { if case .text(let text) = $0 { text } else { nil } }
    }

    package func bytes(_ column: Int) throws -> Data? {
        try read(column, as: "bytes") { value in
            switch value {
            case .bytes(let data): data
            case .text(let text): Data(text.utf8)
            default: nil
            }
        }
    }
}

/// The columns of a statement's rows.
package final class QueueColumns: Sendable {
    fileprivate let names: [String]
    /// The first place of each name.
    fileprivate let places: [String: Int]

    package init(_ names: [String]) {
        self.names = names
        places = Dictionary(zip(names, 0...)) { first, _ in first }
    }
}

extension QueueRow {
    /// A column that is not NULL.
    package subscript<Value: SQLReadable>(_ column: String) -> Value {
        get throws {
            guard let value = try Value.read(place(of: column), of: self) else {
                throw StoreError.failed("the column \"\(column)\" of a statement is NULL")
            }
            return value
        }
    }

    package subscript<Value: SQLReadable>(_ column: String) -> Value? {
        get throws { try Value.read(place(of: column), of: self) }
    }

    /// A number as it is (``integer(_:)``).
    package func number(_ column: String) throws -> Int64? { try integer(place(of: column)) }

    /// A column that is not NULL, by its place: for the only column, and where a list of columns says the places.
    package subscript<Value: SQLReadable>(_ column: Int) -> Value {
        get throws {
            guard let value = try Value.read(column, of: self) else {
                throw StoreError.failed("the column \(column) of a statement is NULL")
            }
            return value
        }
    }

    package subscript<Value: SQLReadable>(_ column: Int) -> Value? {
        get throws { try Value.read(column, of: self) }
    }
}

extension Int64: SQLBindable, SQLReadable, SQLListElement {
    package var sqlValue: SQLValue { .integer(self) }
    package static func value(of list: [Int64]) -> SQLValue { .integers(list) }

    /// What no count or time of Cameo exceeds. Nearer to the largest, sums and differences would trap.
    private static let bound: Int64 = 1 << 58

    /// Cuts a number that only another program can have left to the bound.
    package static func read(_ column: Int, of row: QueueRow) throws -> Int64? {
        try row.integer(column).map { Swift.min(Swift.max($0, -bound), bound) }
    }
}

extension Int: SQLBindable, SQLReadable {
    package var sqlValue: SQLValue { .integer(Int64(self)) }
    package static func read(_ column: Int, of row: QueueRow) throws -> Int? {
        try Int64.read(column, of: row).map(Int.init)
    }
}

extension Double: SQLBindable, SQLReadable {
    package var sqlValue: SQLValue { .real(self) }
    package static func read(_ column: Int, of row: QueueRow) throws -> Double? { try row.real(column) }
}

extension Bool: SQLBindable, SQLReadable {
    package var sqlValue: SQLValue { .truth(self) }
    package static func read(_ column: Int, of row: QueueRow) throws -> Bool? { try row.truth(column) }
}

extension String: SQLBindable, SQLReadable, SQLListElement {
    package var sqlValue: SQLValue { .text(self) }
    package static func value(of list: [String]) -> SQLValue { .texts(list) }
    package static func read(_ column: Int, of row: QueueRow) throws -> String? { try row.text(column) }
}

extension Data: SQLBindable, SQLReadable {
    package var sqlValue: SQLValue { .bytes(self) }
    package static func read(_ column: Int, of row: QueueRow) throws -> Data? { try row.bytes(column) }
}

/// What can be in a list that is a parameter.
package protocol SQLListElement: Sendable {
    static func value(of list: [Self]) -> SQLValue
}

extension Array: SQLBindable where Element: SQLListElement {
    package var sqlValue: SQLValue { Element.value(of: self) }
}
