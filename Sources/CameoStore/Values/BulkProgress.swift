/// How far a bulk change is.
package struct BulkProgress: Hashable, Encodable, Sendable {
    /// Jobs that the filter met before the first of them was changed, at most its limit.
    package let matched: Int
    package var changed = 0
    /// Jobs that had left the states that were meant by the time their turn came.
    package var passed = 0

    package init(matched: Int) {
        self.matched = matched
    }
}
