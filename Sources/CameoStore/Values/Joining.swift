package import CameoModel

/// What a job or request contributes when it joins another job.
package struct Joining: Sendable {
    package let priority: Int
    /// When to run; nil for a job that only waits for its back-off.
    package let due: Int64?
    package let refresh: Refresh
    package let batches: [String]
    /// Whether a hook waits for the end.
    package let isHooked: Bool

    package init(priority: Int, due: Int64?, refresh: Refresh, batches: [String], isHooked: Bool) {
        self.priority = priority
        self.due = due
        self.refresh = refresh
        self.batches = batches
        self.isHooked = isHooked
    }
}
