/// A value of a kind of record.
package struct RecordField: Hashable, Sendable {
    package enum Kind: Sendable {
        case integer, real, text, bytes
        /// 0 or 1; never null.
        case truth
        /// JSON, whose text is kept as it is. Bytes that are not UTF-8 are a ``StoreValue/bytes(_:)``.
        case json
    }

    /// Engines have a column of this name.
    package let name: String
    package let kind: Kind

    static func integer(_ name: String) -> RecordField { RecordField(name: name, kind: .integer) }
    static func real(_ name: String) -> RecordField { RecordField(name: name, kind: .real) }
    static func text(_ name: String) -> RecordField { RecordField(name: name, kind: .text) }
    static func bytes(_ name: String) -> RecordField { RecordField(name: name, kind: .bytes) }
    static func truth(_ name: String) -> RecordField { RecordField(name: name, kind: .truth) }
    static func json(_ name: String) -> RecordField { RecordField(name: name, kind: .json) }
}
