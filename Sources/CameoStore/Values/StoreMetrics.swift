/// What monitoring asks of a store, beside its status.
package struct StoreMetrics: Hashable, Sendable {
    package let counters: StoreCounters
    /// The renderer processes that the live workers keep ready.
    package let renderers: Int
    /// The size of the database without its write-ahead log, in bytes.
    package let databaseBytes: Int

    package init(counters: StoreCounters, renderers: Int, databaseBytes: Int) {
        self.counters = counters
        self.renderers = renderers
        self.databaseBytes = databaseBytes
    }
}
