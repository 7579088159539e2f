internal import CameoModel
internal import CameoStore
internal import Logging

extension Worker {
    /// What others have between two transactions that remove something.
    private static let pruningPause = Duration.milliseconds(20)

    /// Originals that one transaction evicts, at most.
    private static let evictionStep = 16

    /// Removes what retention and the cache's budget no longer keep, again and again, while no other process does; ends
    /// with its task only.
    func maintain() async {
        while !Task.isCancelled {
            do {
                if let turn = try store.maintenanceTurn() {
                    try await evictOriginals()
                    try await prune(in: turn)
                }
            } catch is CancellationError {
                return
            } catch {
                logger.warning("cannot remove what is no longer kept", metadata: ["reason": "\(error)"])
            }
            guard (try? await Task.sleep(for: configuration.maintenanceInterval)) != nil else { return }
        }
    }

    private func prune(in turn: MaintenanceTurn) async throws {
        var pruned = Pruned()
        // Also what went before the worker was told to end.
        defer { if !pruned.isEmpty { log(pruned) } }
        _ = try await store.prune(configuration.retention, in: turn, pause: Self.pruningPause) { pruned += $0 }
    }

    /// Each answer that is kept makes its own room; this is for a budget that was lowered.
    private func evictOriginals() async throws {
        guard let budget = configuration.cacheBudget else { return }
        while try await !store.evictSources(over: budget, atMost: Self.evictionStep).isWithinBudget {
            try await Task.sleep(for: Self.pruningPause)
        }
    }

    private func log(_ pruned: Pruned) {
        logger.info(
            "pruned",
            metadata: [
                "completed": "\(pruned.completed)", "cancelled": "\(pruned.cancelled)",
                "discarded": "\(pruned.discarded)", "thumbnails": "\(pruned.thumbnails)",
                "source_failures": "\(pruned.sourceFailures)", "concurrency_keys": "\(pruned.concurrencyKeys)",
                "blobs": "\(pruned.blobs)", "blob_bytes": "\(pruned.blobBytes)",
            ]
        )
    }
}
