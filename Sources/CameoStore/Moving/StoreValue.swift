package import Foundation

/// A value of a record, the same in every engine.
package enum StoreValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes(Data)

    /// The number of bytes that it needs in memory, about.
    package var size: Int {
        switch self {
        case .null, .integer, .real: 8
        case .text(let text): text.utf8.count
        case .bytes(let data): data.count
        }
    }
}
