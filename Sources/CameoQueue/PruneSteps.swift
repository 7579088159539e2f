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

    let store: Engine
    let turn: MaintenanceTurn
    /// The pause between transactions, left to other writers.
    let pause: Duration
    /// Called after each transaction with what it removed.
    let report: (Pruned) async -> Void
    var total = Pruned()

    /// Runs transactions until one is the last.
    ///
    /// - Throws: what a transaction throws; `CancellationError` before it and in the pause after it.
    package mutating func take(_ transaction: @escaping @Sendable (Engine.Transaction) throws -> PruneStep) async throws
    {
        while try await !takeOne(transaction).isLast {}
    }

    /// Walks over an index, page by page, and removes what is removable, in as many transactions as that needs. An entry that
    /// stays is visited once. `page` is the statement that selects entries after the last one.
    mutating func take<ID>(
        _ page:
            @escaping @Sendable (_ last: IndexEntry<ID>?, _ limit: Int, Engine.Transaction) -> (
                sql: String, values: [(any SQLBindable)?]
            ),
        removing remove: @escaping @Sendable ([ID], Engine.Transaction) throws -> Pruned
    ) async throws {
        var last: IndexEntry<ID>?
        while true {
            let after = last
            let entries = try await store.read { db -> [IndexEntry<ID>] in
                let (sql, values) = page(after, Self.page, db)
                return try db.query(sql, values).map { try IndexEntry($0) }
            }
            let removable = entries.filter(\.isRemovable).map(\.id)
            for start in stride(from: 0, to: removable.count, by: Self.size) {
                let some = Array(removable[start..<min(start + Self.size, removable.count)])
                _ = try await takeOne { db in PruneStep(removed: try remove(some, db), isLast: true) }
            }
            guard entries.count == Self.page else { return }
            last = entries.last
        }
    }

    private mutating func takeOne(
        _ transaction: @escaping @Sendable (Engine.Transaction) throws -> PruneStep
    ) async throws -> PruneStep {
        try Task.checkCancellation()
        let step = try await store.commit(.upkeep(turn), transaction)
        await note(step.removed)
        if pause > .zero { try await Task.sleep(for: pause) }
        return step
    }

    mutating func note(_ removed: Pruned) async {
        total += removed
        if !removed.isEmpty { await report(removed) }
    }
}

/// What a walk over an index finds: the columns `id`, `at`, by which the index is ordered, and `is_removable`.
struct IndexEntry<ID: SQLReadable & Sendable>: Sendable {
    let id: ID
    let at: Int64
    let isRemovable: Bool

    init(_ row: QueueRow) throws {
        (id, at, isRemovable) = try (row["id"], row["at"], row["is_removable"])
    }
}
