internal import CameoModel
internal import CameoStore
internal import Logging

extension Worker {
    /// What others have between two transactions that remove something.
    private static let pruningPause = Duration.milliseconds(20)

    /// Removes what retention no longer keeps, again and again, while no other process does; ends with its task only.
    func maintain() async {
        while !Task.isCancelled {
            do {
                if let turn = try store.maintenanceTurn() {
                    let pruned = try await store.prune(
                        configuration.retention,
                        in: turn,
                        pause: Self.pruningPause
                    )
                    if !pruned.isEmpty { log(pruned) }
                }
            } catch is CancellationError {
                return
            } catch {
                logger.warning("cannot remove what retention no longer keeps", metadata: ["reason": "\(error)"])
            }
            guard (try? await Task.sleep(for: configuration.maintenanceInterval)) != nil else { return }
        }
    }

    private func log(_ pruned: Pruned) {
        logger.info(
            "pruned",
            metadata: [
                "completed": "\(pruned.completed)", "cancelled": "\(pruned.cancelled)",
                "discarded": "\(pruned.discarded)", "blobs": "\(pruned.blobs)", "blob_bytes": "\(pruned.blobBytes)",
            ]
        )
    }
}
