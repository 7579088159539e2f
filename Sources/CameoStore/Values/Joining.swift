package import CameoModel

/// What a job brings along when it, or its request, joins another.
package struct Joining: Sendable {
    package let priority: Int
    /// When it wants to run; nil for what only waits for its back-off.
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
