/// What a move, or the comparison of two stores, found.
package struct MoveReport: Sendable {
    /// The records of each kind in the store that moved.
    package var sums: [RecordKind: RecordSum] = [:]
    /// The kinds of which the stores have different records, with their numbers in both.
    package var differences: [(kind: RecordKind, source: RecordSum, destination: RecordSum)] = []
    /// Bytes of blobs that were copied or, in a comparison, read.
    package var bytes = 0
    /// Whether it went on with a move that had been begun.
    package var wasBegun = false
    /// Blobs whose bytes are damaged or lost at the destination.
    package var damaged: [String] = []

    /// Whether the stores have the same.
    package var isGood: Bool { differences.isEmpty && damaged.isEmpty }

    package init() {}
}
