/// The order of claims, lowest first.
///
/// A task's rank is its due time minus one minute per step of priority. Every minute of waiting is worth a step, so
/// nothing starves but background queues, and a rank never changes while its task waits. Within a millisecond the lower
/// id goes first, by its last 14 bits.
package enum Rank {
    /// The worth of one step of priority in milliseconds.
    static let step: Int64 = 60_000
    private static let idBits: Int64 = 14
    /// The latest due time, in the year 10889: the bits left of 63.
    private static let latest: Int64 = 1 << 48

    package static func of(_ id: Int64, due: Int64, priority: Int) -> Int64 {
        let time = min(max(due, -latest), latest) - Int64(priority) * step
        return time << idBits | id & (1 << idBits - 1)
    }
}
