internal import CameoStore

/// Runs removals as a sequence of small transactions.
struct PruneSteps {
    /// The maximum number of rows removed per transaction, not counting dependent rows.
    static let size = 100

    /// The pause between transactions, left to other writers.
    let pause: Duration
    /// Called after each transaction with what it removed.
    let report: (Pruned) async -> Void
    private(set) var total = Pruned()

    init(pause: Duration, report: @escaping (Pruned) async -> Void) {
        self.pause = pause
        self.report = report
    }

    /// Runs one transaction.
    ///
    /// - Throws: what the transaction throws; `CancellationError` before it and in the pause after it.
    mutating func take(_ transaction: () async throws(StoreError) -> Pruned) async throws {
        try Task.checkCancellation()
        let step = try await transaction()
        total += step
        if !step.isEmpty { await report(step) }
        if pause > .zero { try await Task.sleep(for: pause) }
    }

    /// Runs as many transactions as the items need.
    mutating func take<Item>(
        _ items: [Item],
        _ transaction: ([Item]) async throws(StoreError) -> Pruned
    ) async throws {
        for start in stride(from: 0, to: items.count, by: Self.size) {
            let some = Array(items[start..<min(start + Self.size, items.count)])
            try await take { () throws(StoreError) in try await transaction(some) }
        }
    }
}
