internal import CameoStore

/// What is removed, one small transaction after the other.
struct PruneSteps {
    /// Rows that one transaction removes, with what belongs to them, at most.
    static let size = 100

    /// What others have between two transactions for themselves.
    let pause: Duration
    /// Told after each transaction what it removed.
    let report: (Pruned) async -> Void
    private(set) var total = Pruned()

    init(pause: Duration, report: @escaping (Pruned) async -> Void) {
        self.pause = pause
        self.report = report
    }

    /// - Throws: what the transaction throws; `CancellationError` before it and in the pause after it.
    mutating func take(_ transaction: () async throws(StoreError) -> Pruned) async throws {
        try Task.checkCancellation()
        let step = try await transaction()
        total += step
        if !step.isEmpty { await report(step) }
        if pause > .zero { try await Task.sleep(for: pause) }
    }

    /// Takes as many steps as the items need.
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
