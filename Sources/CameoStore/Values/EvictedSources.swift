/// What one step of eviction did.
package struct EvictedSources: Hashable, Sendable {
    package let count: Int
    package let bytes: Int
    /// Whether nothing is left to do.
    package let isWithinBudget: Bool

    package init(count: Int, bytes: Int, isWithinBudget: Bool) {
        self.count = count
        self.bytes = bytes
        self.isWithinBudget = isWithinBudget
    }
}
