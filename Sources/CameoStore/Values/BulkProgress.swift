/// How far a bulk change is.
public struct BulkProgress: Hashable, Encodable, Sendable {
    /// Jobs that the filter met before the first of them was changed, at most its limit.
    public let matched: Int
    /// Jobs that were changed.
    public var changed = 0
    /// Jobs that had left the states that were meant by the time their turn came.
    public var passed = 0

    package init(matched: Int) {
        self.matched = matched
    }
}
