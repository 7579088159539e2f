/// The limits of a concurrency key and the number of its running jobs.
package struct ConcurrencyLimit: Hashable, Codable, Sendable {
    package let key: String
    package let maxRunning: Int
    package let running: Int
    /// Whether an operator has set the limit; requests then cannot change it.
    package let isFixed: Bool
    /// How many jobs may start per period, e.g. `10/s`; nil if unlimited.
    package let rate: String?

    package init(key: String, maxRunning: Int, running: Int, isFixed: Bool, rate: String? = nil) {
        (self.key, self.maxRunning, self.running, self.isFixed, self.rate) = (key, maxRunning, running, isFixed, rate)
    }
}
