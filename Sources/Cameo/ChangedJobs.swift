internal import CameoStore

/// What a change of many jobs did.
public struct ChangedJobs: Hashable, Sendable {
    /// Whether the jobs are changed, or only counted.
    public enum Mode: Sendable {
        /// Changes them.
        case forGood
        /// Counts the jobs and changes none.
        case dryRun
    }

    /// Jobs that the selection met, at most the limit.
    public let matched: Int
    /// Those that were changed.
    public let changed: Int
    /// Those that had gone on before their turn came, and stay as they are.
    public let passed: Int

    init(_ progress: BulkProgress) {
        (matched, changed, passed) = (progress.matched, progress.changed, progress.passed)
    }
}
