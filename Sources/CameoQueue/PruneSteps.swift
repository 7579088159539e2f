package import CameoStore

/// What one transaction of a removal did.
package struct PruneStep: Sendable {
    package var removed = Pruned()
    /// Whether nothing was left for another.
    package let isLast: Bool

    package init(removed: Pruned = Pruned(), isLast: Bool) {
        (self.removed, self.isLast) = (removed, isLast)
    }
}

/// Runs removals as a sequence of small transactions.
package struct PruneSteps<Engine: QueueStore> {
    /// The maximum number of rows removed per transaction, not counting dependent rows.
    package static var size: Int { 100 }
    /// The maximum number of entries of an index that are read at once.
    private static var page: Int { 1_000 }

    private let store: Engine
    private let turn: MaintenanceTurn
    /// The pause between transactions, left to other writers.
    private let pause: Duration
    /// Called after each transaction with what it removed.
    private let report: (Pruned) async -> Void
    private(set) var total = Pruned()

    init(_ store: Engine, in turn: MaintenanceTurn, pause: Duration, report: @escaping (Pruned) async -> Void) {
        (self.store, self.turn) = (store, turn)
        self.pause = pause
        self.report = report
    }

    /// Runs transactions until one is the last.
    ///
    /// - Throws: what a transaction throws; `CancellationError` before it and in the pause after it.
    package mutating func take(_ transaction: @escaping @Sendable (Engine.Transaction) throws -> PruneStep) async throws
    {
        while try await !takeOne(transaction).isLast {}
    }

    /// Removes what a walk finds, in as many transactions as it needs.
    mutating func take<Walk: IndexWalk>(
        _ walk: Walk,
        _ transaction: @escaping @Sendable ([Walk.Entry], Engine.Transaction) throws -> Pruned
    ) async throws {
        var last: Walk.Entry?
        while true {
            let after = last
            let entries = try await store.read { db in try walk.entries(after: after, limit: Self.page, db) }
            let removable = entries.filter(walk.isRemovable)
            for start in stride(from: 0, to: removable.count, by: Self.size) {
                let some = Array(removable[start..<min(start + Self.size, removable.count)])
                _ = try await takeOne { db in PruneStep(removed: try transaction(some, db), isLast: true) }
            }
            guard entries.count == Self.page else { return }
            last = entries.last
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
        _ transaction: @escaping @Sendable (Engine.Transaction) throws -> PruneStep
    ) async throws -> PruneStep {
        try Task.checkCancellation()
        let step = try await store.commit(in: turn, transaction)
        await note(step)
        if pause > .zero { try await Task.sleep(for: pause) }
        return step
    }

    private mutating func note(_ step: PruneStep) async {
        total += step.removed
        if !step.removed.isEmpty { await report(step.removed) }
    }
}

/// A paged scan of an index that visits each entry once, including those that stay.
protocol IndexWalk: Sendable {
    associatedtype Entry: Sendable

    /// The next entries after the last of the page before.
    func entries(after last: Entry?, limit: Int, _ db: some QueueTransaction) throws -> [Entry]

    func isRemovable(_ entry: Entry) -> Bool
}
