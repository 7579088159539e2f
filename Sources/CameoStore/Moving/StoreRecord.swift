package import Foundation

/// One thing that a store keeps, in a form that all engines share.
package struct StoreRecord: Sendable {
    /// In the order of the fields of its kind.
    package var values: [StoreValue]
    /// Where it is in the store that it was read from.
    package var cursor: StoreCursor
    /// The bytes of a blob that the receiving engine keeps in its row.
    package var bytes: Data?

    package init(values: [StoreValue], cursor: StoreCursor) {
        self.values = values
        self.cursor = cursor
    }

    /// The number of bytes that it needs in memory, about.
    package var size: Int { values.reduce(0) { $0 + $1.size } }
}
