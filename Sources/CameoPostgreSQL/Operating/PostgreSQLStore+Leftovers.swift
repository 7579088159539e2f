internal import CameoStore
internal import Foundation

// DESIGN. Removes obsolete rows that nothing else removes: expired source failures and idempotency keys, and queues,
// batches and concurrency keys without jobs. A key that an operator has limited is kept for future jobs. So is a key
// that still has a job, even an ended one: a retry would find no limit and never run.
//
// Removal has the lock of names before it looks whether any job uses one: a transaction that accepts a job shares it, so
// that the removal sees the job, or the job finds no row and makes another.
extension PostgreSQLStore {
    private static let isOver = "FROM source_failure WHERE until <= $1"

    fileprivate static let isUnusedKey = """
        NOT fixed AND rate_count IS NULL
          AND NOT EXISTS (SELECT 1 FROM accepted WHERE accepted.key = key.id AND accepted.key <> 0)
          AND NOT EXISTS (SELECT 1 FROM task WHERE task.key = key.id AND task.key <> 0 AND task.state = 2)
        """

    /// The condition for an empty queue. A queue with an operator's setting is kept for future jobs.
    fileprivate static let isEmptyQueue = """
        NOT paused AND NOT background AND max_running IS NULL AND rate_count IS NULL AND hook IS NULL
          AND NOT EXISTS (SELECT 1 FROM accepted WHERE accepted.queue = queue.id)
          AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.queue = queue.id)
        """

    func removeLeftovers(now: Int64, _ steps: inout PruneSteps) async throws {
        try await steps.take { db in
            let count = try Self.removeFailures(endedBy: now, atMost: PruneSteps.size, db)
            var step = PruneStep(isLast: count < PruneSteps.size)
            step.removed.sourceFailures = count
            return step
        }
        try await steps.take { db in
            let count = try db.execute(
                """
                DELETE FROM first_receipt WHERE key = ANY (ARRAY(
                  SELECT key FROM first_receipt WHERE at <= $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))
                """,
                [now - IdempotencyKey.lifetime, PruneSteps.size]
            )
            return PruneStep(isLast: count < PruneSteps.size)
        }
        var walk = UnusedNames(table: "key", condition: Self.isUnusedKey)
        while let page = try await next(of: &walk) {
            try await steps.take(page.map(\.id)) { keys, db in try Self.remove(keys: keys, db) }
        }
        walk = UnusedNames(table: "queue", condition: Self.isEmptyQueue)
        while let page = try await next(of: &walk) {
            try await steps.take(page.map(\.id)) { queues, db in try Self.remove(queues: queues, db) }
        }
        try await steps.take { db in
            try Self.removeEmptyBatches(db)
            return PruneStep(isLast: true)
        }
    }

    /// Counts what ``removeLeftovers(now:_:)`` would remove.
    static func leftovers(_ db: Database) throws -> Pruned {
        var found = Pruned()
        found.sourceFailures = try db.value("SELECT count(*) \(isOver)", [db.now]) ?? 0
        found.concurrencyKeys = try db.value("SELECT count(*) FROM key WHERE \(isUnusedKey)") ?? 0
        found.queues = try db.value("SELECT count(*) FROM queue WHERE \(isEmptyQueue)") ?? 0
        return found
    }

    /// Removes one page of batches without jobs.
    private static func removeEmptyBatches(_ db: Database) throws {
        let isEmpty = "NOT EXISTS (SELECT 1 FROM batch_job WHERE batch_job.batch = batch.id)"
        try db.lock(.names)
        try db.execute("DELETE FROM batch WHERE id IN (SELECT id FROM batch WHERE \(isEmpty) LIMIT $1)", [prunePage])
    }

    private static func remove(keys: [Int64], _ db: Database) throws -> Pruned {
        try db.lock(.names)
        // A job with the key may have been added since the scan.
        let unused: [Int64] = try db.column(
            "SELECT id FROM key WHERE id = ANY($1::bigint[]) AND \(isUnusedKey) FOR UPDATE",
            [SQLArray(keys)]
        )
        try db.execute("DELETE FROM lane WHERE key = ANY($1::bigint[]) AND key <> 0", [SQLArray(unused)])
        try db.execute("DELETE FROM key WHERE id = ANY($1::bigint[])", [SQLArray(unused)])
        var pruned = Pruned()
        pruned.concurrencyKeys = unused.count
        return pruned
    }

    private static func remove(queues: [Int64], _ db: Database) throws -> Pruned {
        try db.lock(.names)
        let empty: [Int64] = try db.column(
            "SELECT id FROM queue WHERE id = ANY($1::bigint[]) AND \(isEmptyQueue)",
            [SQLArray(queues)]
        )
        // Its columns' values stay in the table of counters.
        db.add(try everEnded(in: empty, db))
        try db.execute("DELETE FROM lane WHERE queue = ANY($1::bigint[])", [SQLArray(empty)])
        try db.execute("DELETE FROM queue WHERE id = ANY($1::bigint[])", [SQLArray(empty)])
        var pruned = Pruned()
        pruned.queues = empty.count
        return pruned
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
        try db.query(
            "SELECT id, (\(condition)) FROM \(table) WHERE id > $1 ORDER BY id LIMIT $2",
            [last?.id ?? 0, limit]
        )
        .map { row in try Candidate(id: row[0], isUnused: row[1]) }
    }
}
