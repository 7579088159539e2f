/// The progress of a bulk change.
public struct BulkProgress: Hashable, Encodable, Sendable {
    /// Jobs that matched the filter before the first change, up to its limit.
    public let matched: Int
    /// Jobs that were changed.
    public var changed = 0
    /// Jobs skipped because they had left the selected states.
    public var passed = 0

    package init(matched: Int) {
        self.matched = matched
    }
}
