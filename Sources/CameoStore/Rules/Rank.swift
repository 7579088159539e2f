/// The order of claims, lowest first.
///
/// A task's rank is the time at which it was due, less a minute for each step of its priority: every minute of waiting is
/// worth a step, so nothing starves, and no rank changes while its task waits. Of the same millisecond the lower id goes
/// first, by its last 14 bits.
package enum Rank {
    /// Milliseconds.
    static let step: Int64 = 60_000
    private static let idBits: Int64 = 14
    /// The year 10889: what is left of 63 bits.
    private static let latest: Int64 = 1 << 48

    package static func of(_ id: Int64, due: Int64, priority: Int) -> Int64 {
        let time = min(max(due, -latest), latest) - Int64(priority) * step
        return time << idBits | id & (1 << idBits - 1)
    }
}
