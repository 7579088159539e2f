internal import CameoStore
internal import Foundation
internal import GRDB

// DESIGN. Removes obsolete rows that nothing else removes: expired source failures and idempotency keys, and queues,
// batches and concurrency keys without jobs. A key that an operator has limited is kept for future jobs. So is a key
// that still has a job, even an ended one: a retry would find no limit and never run.
extension SQLiteStore {
    private static let isOver = "FROM source_failure WHERE until <= ?"

    fileprivate static let isUnused = """
        fixed = 0 AND rate_count IS NULL AND running = 0
          AND NOT EXISTS (SELECT 1 FROM accepted INDEXED BY accepted_key WHERE key = key.id AND key <> 0)
        """

    /// The condition for an empty queue. A queue with an operator's setting is kept for future jobs.
    fileprivate static let isEmptyQueue = """
        paused = 0 AND background = 0 AND max_running IS NULL AND rate_count IS NULL AND hook IS NULL
          AND EXISTS (SELECT 1 FROM queue_count WHERE queue = queue.id
            AND scheduled + available + running + retryable + completed + discarded + cancelled = 0)
        """

    func removeLeftovers(now: Int64, _ steps: inout PruneSteps) async throws {
        try await removeFailures(now: now, &steps)
        try await removeReceipts(now: now, &steps)
        var walk = UnusedNames(table: "key", condition: Self.isUnused)
        while let page = try await next(of: &walk) {
            try await steps.take(page.map(\.id)) { keys throws(StoreError) in try await remove(keys: keys) }
        }
        walk = UnusedNames(table: "queue", condition: Self.isEmptyQueue)
        while let page = try await next(of: &walk) {
            try await steps.take(page.map(\.id)) { queues throws(StoreError) in try await remove(queues: queues) }
        }
        try await removeEmptyBatches()
    }

    /// Counts what ``removeLeftovers(now:_:)`` would remove.
    func leftovers(now: Int64) async throws(StoreError) -> Pruned {
        try await read { db in
            var found = Pruned()
            found.sourceFailures = try Int.fetchOne(db, sql: "SELECT count(*) \(Self.isOver)", arguments: [now]) ?? 0
            found.concurrencyKeys = try Int.fetchOne(db, sql: "SELECT count(*) FROM key WHERE \(Self.isUnused)") ?? 0
            found.queues = try Int.fetchOne(db, sql: "SELECT count(*) FROM queue WHERE \(Self.isEmptyQueue)") ?? 0
            return found
        }
    }

    /// Removes one page of batches without jobs.
    private func removeEmptyBatches() async throws(StoreError) {
        try await commit { db in
            try db.execute(
                sql: """
                    DELETE FROM batch WHERE id IN (SELECT id FROM batch
                      WHERE NOT EXISTS (SELECT 1 FROM batch_job WHERE batch = batch.id) LIMIT ?)
                    """,
                arguments: [Self.prunePage]
            )
        }
    }

    private func removeFailures(now: Int64, _ steps: inout PruneSteps) async throws {
        var isLeft = try await read { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 \(Self.isOver))", arguments: [now]) ?? false
        }
        while isLeft {
            try await steps.take { () throws(StoreError) in
                var step = Pruned()
                step.sourceFailures = try await commit { db in
                    try Self.removeFailures(endedBy: now, atMost: PruneSteps.size, db)
                }
                isLeft = step.sourceFailures == PruneSteps.size
                return step
            }
        }
    }

    private func removeReceipts(now: Int64, _ steps: inout PruneSteps) async throws {
        var isLeft = try await read { db in try FirstReceipt.hasExpired(now: now, db) }
        while isLeft {
            try await steps.take { () throws(StoreError) in
                isLeft = try await commit { db in
                    try FirstReceipt.prune(now: now, atMost: PruneSteps.size, db) == PruneSteps.size
                }
                return Pruned()
            }
        }
    }

    /// - Returns: the number of rows removed.
    static func removeFailures(endedBy now: Int64, atMost limit: Int, _ db: Database) throws -> Int {
        let remove = try db.cachedStatement(
            sql: """
                DELETE FROM source_failure WHERE (uri, scope) IN (SELECT uri, scope \(isOver) ORDER BY until LIMIT ?)
                """
        )
        try remove.execute(arguments: [now, limit])
        return db.changesCount
    }

    private func remove(keys: [Int64]) async throws(StoreError) -> Pruned {
        try await commit { db in
            // A job with the key may have been added since the scan.
            let look = try db.cachedStatement(sql: "SELECT 1 FROM key WHERE id = ? AND \(Self.isUnused)")
            let clear = try db.cachedStatement(sql: "DELETE FROM lane WHERE key = ? AND key <> 0")
            let remove = try db.cachedStatement(sql: "DELETE FROM key WHERE id = ?")
            var removed = Pruned()
            for key in keys where try Int.fetchOne(look, arguments: [key]) != nil {
                try clear.execute(arguments: [key])
                try remove.execute(arguments: [key])
                removed.concurrencyKeys += 1
            }
            return removed
        }
    }

    private func remove(queues: [Int64]) async throws(StoreError) -> Pruned {
        try await commit { db in
            let look = try db.cachedStatement(sql: "SELECT 1 FROM queue WHERE id = ? AND \(Self.isEmptyQueue)")
            let clear = try db.cachedStatement(sql: "DELETE FROM lane WHERE queue = ?")
            let remove = try db.cachedStatement(sql: "DELETE FROM queue WHERE id = ?")
            var removed = Pruned()
            for queue in queues where try Int.fetchOne(look, arguments: [queue]) != nil {
                try Self.add(try Self.everEnded(in: queue, db), db)
                try clear.execute(arguments: [queue])
                try remove.execute(arguments: [queue])
                removed.queues += 1
            }
            return removed
        }
    }
}

/// A scan of queues or concurrency keys by id.
private struct UnusedNames: IndexWalk {
    struct Candidate: Sendable {
        let id: Int64
        let isUnused: Bool
    }

    let table: String
    let condition: String
    var last: Candidate?
    var isOver = false

    func isRemovable(_ candidate: Candidate) -> Bool { candidate.isUnused }

    func entries(_ db: Database, limit: Int) throws -> [Candidate] {
        let statement = try db.cachedStatement(
            sql: "SELECT id, (\(condition)) AS is_unused FROM \(table) WHERE id > ? ORDER BY id LIMIT ?"
        )
        return try Row.fetchAll(statement, arguments: [last?.id ?? 0, limit]).map { row in
            Candidate(id: row["id"], isUnused: row["is_unused"])
        }
    }
}
