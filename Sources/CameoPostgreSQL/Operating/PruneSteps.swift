internal import CameoStore

/// What one transaction of a removal did.
struct PruneStep: Sendable {
    var removed = Pruned()
    /// Whether nothing was left for another.
    let isLast: Bool

    init(removed: Pruned = Pruned(), isLast: Bool) {
        (self.removed, self.isLast) = (removed, isLast)
    }
}

/// Runs removals as a sequence of small transactions, each of which renews the maintenance lock.
struct PruneSteps {
    /// The maximum number of rows removed per transaction, not counting dependent rows.
    static let size = 100

    private let store: PostgreSQLStore
    private let lease: MaintenanceLease
    /// The pause between transactions, left to other writers.
    private let pause: Duration
    /// Called after each transaction with what it removed.
    private let report: (Pruned) async -> Void
    private(set) var total = Pruned()

    init(
        in store: PostgreSQLStore,
        under lease: MaintenanceLease,
        pause: Duration,
        report: @escaping (Pruned) async -> Void
    ) {
        self.store = store
        self.lease = lease
        self.pause = pause
        self.report = report
    }

    /// Runs transactions until one is the last.
    ///
    /// - Throws: what a transaction throws; `CancellationError` before it and in the pause after it.
    mutating func take(_ transaction: @escaping @Sendable (Database) throws -> PruneStep) async throws {
        while try await !takeOne(transaction).isLast {}
    }

    /// Runs as many transactions as the items need.
    mutating func take<Item: Sendable>(
        _ items: [Item],
        _ transaction: @escaping @Sendable ([Item], Database) throws -> Pruned
    ) async throws {
        for start in stride(from: 0, to: items.count, by: Self.size) {
            let some = Array(items[start..<min(start + Self.size, items.count)])
            _ = try await takeOne { db in PruneStep(removed: try transaction(some, db), isLast: true) }
        }
    }

    /// Runs steps that make transactions of their own, until one is the last.
    mutating func takeApart(_ step: () async throws(StoreError) -> PruneStep) async throws {
        while true {
            _ = try await takeOne { _ in PruneStep(isLast: true) }
            let taken = try await step()
            await note(taken)
            if taken.isLast { return }
        }
    }

    private mutating func takeOne(
        _ transaction: @escaping @Sendable (Database) throws -> PruneStep
    ) async throws -> PruneStep {
        try Task.checkCancellation()
        let lease = lease
        let step = try await store.transaction { db in
            try lease.renew(db)
            return try transaction(db)
        }
        await note(step)
        if pause > .zero { try await Task.sleep(for: pause) }
        return step
    }

    private mutating func note(_ step: PruneStep) async {
        total += step.removed
        if !step.removed.isEmpty { await report(step.removed) }
    }
}
