/// Numbers over the whole life of a store, for monitoring.
package protocol MetricsStore: AnyStore {
    /// The counters and sizes now. The cost does not depend on the number of jobs.
    func metrics() async throws(StoreError) -> StoreMetrics
}
