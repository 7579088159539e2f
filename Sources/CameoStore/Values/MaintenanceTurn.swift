/// The right to remove what is no longer wanted, or to copy the store while nobody does: one process at a time has it,
/// until the value goes.
package final class MaintenanceTurn: Sendable {
    /// For how long whoever was asked to do something waits for a worker's own pruning.
    package static let patience = Duration.seconds(30)

    private let lock: any Sendable

    /// - Parameter lock: what holds it, until it goes.
    package init(_ lock: any Sendable) {
        self.lock = lock
    }
}
