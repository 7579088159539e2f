/// What a concurrency key allows, and what runs under it.
package struct ConcurrencyLimit: Hashable, Codable, Sendable {
    package let key: String
    package let maxRunning: Int
    package let running: Int
    /// Whether an operator has set the limit, so that requests do not.
    package let isFixed: Bool

    package init(key: String, maxRunning: Int, running: Int, isFixed: Bool) {
        self.key = key
        self.maxRunning = maxRunning
        self.running = running
        self.isFixed = isFixed
    }
}
