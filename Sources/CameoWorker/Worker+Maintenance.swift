internal import CameoModel
internal import CameoStore
internal import Logging

extension Worker {
    /// The pause between two transactions that remove something, in which other processes can write.
    private static let pruningPause = Duration.milliseconds(20)

    /// The maximum number of originals that one transaction evicts.
    private static let evictionStep = 16

    /// Periodically removes what retention and the cache's budget no longer keep, unless another process is doing so.
    /// Returns only when its task is cancelled.
    func maintain() async {
        var known: OthersBytes?
        while !Task.isCancelled {
            do {
                if let turn = try await store.maintenanceTurn() {
                    try await evictOriginals()
                    try await prune(in: turn)
                }
                let others = try await store.othersBytes()
                if let others, others != known { logger.warning("\(others)") }
                known = others
            } catch is CancellationError {
                return
            } catch {
                logger.warning("cannot prune the store", metadata: ["reason": "\(error)"])
            }
            guard (try? await configuration.time.sleep(configuration.maintenanceInterval)) != nil else { return }
        }
    }

    private func prune(in turn: MaintenanceTurn) async throws {
        var pruned = Pruned()
        // Even if the worker is told to end meanwhile, what was removed until then is logged.
        defer { if !pruned.isEmpty { log(pruned) } }
        _ = try await store.prune(configuration.retention, in: turn, pause: Self.pruningPause) { pruned += $0 }
    }

    /// Shrinks the cache to its budget after the budget was lowered. At all other times, storing an answer makes room for it.
    private func evictOriginals() async throws {
        guard let budget = configuration.cacheBudget else { return }
        while try await !store.evictSources(over: budget, atMost: Self.evictionStep).isWithinBudget {
            try await configuration.time.sleep(Self.pruningPause)
        }
    }

    private func log(_ pruned: Pruned) {
        logger.info(
            "pruned",
            metadata: [
                "completed": .stringConvertible(pruned.completed), "cancelled": .stringConvertible(pruned.cancelled),
                "discarded": .stringConvertible(pruned.discarded), "thumbnails": .stringConvertible(pruned.thumbnails),
                "source_failures": .stringConvertible(pruned.sourceFailures),
                "concurrency_keys": .stringConvertible(pruned.concurrencyKeys),
                "blobs": .stringConvertible(pruned.blobs), "blob_bytes": .stringConvertible(pruned.blobBytes),
            ]
        )
    }
}
