/// Whether a bulk operation changes jobs or only counts them.
public enum BulkMode: Sendable {
    /// Changes the jobs.
    case forGood
    /// Counts the jobs without changing any.
    case dryRun
}
