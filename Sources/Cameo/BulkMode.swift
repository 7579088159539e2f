/// Whether jobs are changed, or only counted.
public enum BulkMode: Sendable {
    /// Changes them.
    case forGood
    /// Counts the jobs and changes none.
    case dryRun
}
