/// The limits of a concurrency key, and the numbers of its running jobs and of those that could be claimed.
package struct ConcurrencyLimit: Hashable, Codable, Sendable {
    package let key: String
    package let maxRunning: Int
    package let running: Int
    package let waiting: Int
    /// Whether an operator has set the limit; requests then cannot change it.
    package let isFixed: Bool
    /// How many jobs may start per period, e.g. `10/s`; nil if unlimited.
    package let rate: String?

    package init(key: String, maxRunning: Int, running: Int, waiting: Int = 0, isFixed: Bool, rate: String? = nil) {
        (self.key, self.maxRunning, self.running, self.waiting) = (key, maxRunning, running, waiting)
        (self.isFixed, self.rate) = (isFixed, rate)
    }
}
