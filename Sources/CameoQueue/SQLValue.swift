internal import CameoStore
package import Foundation

/// A parameter of a statement.
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
    static func read(_ column: Int, of row: some QueueRow) throws -> Self?
}

/// A row of a result. It may outlive its transaction.
package protocol QueueRow {
    /// The place of a column.
    ///
    /// - Throws: ``StoreError`` if there is none of the name.
    func place(of column: String) throws -> Int
    // Each reads a column; nil if it is NULL. Each throws a ``StoreError`` if it holds something else.
    /// As it is: for what is only compared, or names its row in another statement.
    func integer(_ column: Int) throws -> Int64?
    func real(_ column: Int) throws -> Double?
    func truth(_ column: Int) throws -> Bool?
    func text(_ column: Int) throws -> String?
    func bytes(_ column: Int) throws -> Data?
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
    package static func read(_ column: Int, of row: some QueueRow) throws -> Int64? {
        try row.integer(column).map { Swift.min(Swift.max($0, -bound), bound) }
    }
}

extension Int: SQLBindable, SQLReadable {
    package var sqlValue: SQLValue { .integer(Int64(self)) }
    package static func read(_ column: Int, of row: some QueueRow) throws -> Int? {
        try Int64.read(column, of: row).map(Int.init)
    }
}

extension Double: SQLBindable, SQLReadable {
    package var sqlValue: SQLValue { .real(self) }
    package static func read(_ column: Int, of row: some QueueRow) throws -> Double? { try row.real(column) }
}

extension Bool: SQLBindable, SQLReadable {
    package var sqlValue: SQLValue { .truth(self) }
    package static func read(_ column: Int, of row: some QueueRow) throws -> Bool? { try row.truth(column) }
}

extension String: SQLBindable, SQLReadable, SQLListElement {
    package var sqlValue: SQLValue { .text(self) }
    package static func value(of list: [String]) -> SQLValue { .texts(list) }
    package static func read(_ column: Int, of row: some QueueRow) throws -> String? { try row.text(column) }
}

extension Data: SQLBindable, SQLReadable {
    package var sqlValue: SQLValue { .bytes(self) }
    package static func read(_ column: Int, of row: some QueueRow) throws -> Data? { try row.bytes(column) }
}

/// What can be in a list that is a parameter.
package protocol SQLListElement: Sendable {
    static func value(of list: [Self]) -> SQLValue
}

extension Array: SQLBindable where Element: SQLListElement {
    package var sqlValue: SQLValue { Element.value(of: self) }
}
