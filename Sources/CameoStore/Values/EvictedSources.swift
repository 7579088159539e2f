package struct EvictedSources: Hashable, Sendable {
    package let count: Int
    package let bytes: Int
    /// Whether the cache is now within its budget.
    package let isWithinBudget: Bool

    package init(count: Int, bytes: Int, isWithinBudget: Bool) {
        self.count = count
        self.bytes = bytes
        self.isWithinBudget = isWithinBudget
    }
}
