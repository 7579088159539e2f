package import CameoModel

/// What a job or request contributes when it joins another job.
package struct Joining: Sendable {
    package let priority: Int
    /// When to run; nil for a job that only waits for its back-off.
    package let due: Int64?
    package let refresh: Refresh
    package let batches: [String]

    package init(priority: Int, due: Int64?, refresh: Refresh, batches: [String]) {
        self.priority = priority
        self.due = due
        self.refresh = refresh
        self.batches = batches
    }
}
