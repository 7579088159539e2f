internal import CameoModel
internal import Foundation

/// The right to remove what is no longer wanted, or to copy the store while nobody does: one process at a time has it,
/// until the value goes.
package final class MaintenanceTurn: Sendable {
    /// For how long whoever was asked to do something waits for a worker's own pruning.
    package static let patience = Duration.seconds(30)

    private let lock: FileLock

    fileprivate init(_ lock: FileLock) {
        self.lock = lock
    }
}

extension Store {
    /// Nil if another process has the turn.
    package func maintenanceTurn() throws(StoreError) -> MaintenanceTurn? {
        guard writes != nil else { throw .readOnly(path: directory.path) }
        do throws(Errno) {
            return MaintenanceTurn(try FileLock(directory.maintenanceLock))
        } catch {
            guard error.code == EAGAIN || error.code == EACCES else { throw StoreError(error, path: directory.path) }
            return nil
        }
    }

    /// Waits until the turn is free; nil when it is not within `patience`.
    package func maintenanceTurn(within patience: Duration) async throws -> MaintenanceTurn? {
        let started = ContinuousClock.now
        while true {
            if let turn = try maintenanceTurn() { return turn }
            guard started.duration(to: .now) < patience else { return nil }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
