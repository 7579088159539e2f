/// What a concurrency key allows, and what runs under it.
package struct ConcurrencyLimit: Hashable, Codable, Sendable {
    package let key: String
    package let maxRunning: Int
    package let running: Int
    /// Whether an operator has set the limit, so that requests do not.
    package let isFixed: Bool
    /// Jobs of it that may start within a time, as `10/s`; nil: as many as there is room for.
    package let rate: String?

    package init(key: String, maxRunning: Int, running: Int, isFixed: Bool, rate: String? = nil) {
        self.key = key
        self.maxRunning = maxRunning
        self.running = running
        self.isFixed = isFixed
        self.rate = rate
    }
}
