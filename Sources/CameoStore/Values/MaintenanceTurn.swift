/// The maintenance lock: the right to remove data, or to copy the store while no other process removes any. One process
/// holds it at a time, until the value is released.
package final class MaintenanceTurn: Sendable {
    /// How long a command waits for a worker's own pruning.
    package static let patience = Duration.seconds(30)

    /// What holds the right until it is released.
    package let lock: any Sendable

    package init(_ lock: any Sendable) {
        self.lock = lock
    }
}
