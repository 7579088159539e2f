internal import CameoModel
package import Foundation
internal import GRDB

extension Store {
    /// Scheduled and retryable jobs made available in one claim, at most.
    private static let promotions = 1_000

    /// Takes up to `limit` jobs for a worker, lowest rank first, charging each an attempt. Empty when nothing is due.
    /// Takes only from `queues`, or from all when that is nil; paused queues give nothing. `worker` is the id of a
    /// registered worker.
    package func claim(
        limit: Int,
        kind: ClaimKind = .usual,
        queues: [String]? = nil,
        for worker: String
    ) async throws(StoreError) -> [ClaimedJob] {
        let now = nowMilliseconds
        let isWorthwhile = try await read { db in
            try Self.hasDueJobs(db, now: now) || !Self.claimableQueues(db, queues).isEmpty
        }
        guard limit > 0, isWorthwhile else { return [] }
        return try await commit { db in
            try Self.promoteDueJobs(db, now: now)
            let names = try Self.claimableQueues(db, queues)
            guard !names.isEmpty else { return [] }
            return try Self.take(limit, kind, from: names, for: worker, now: now, in: db)
        }
    }

    /// When the next scheduled or retryable job comes due, or nil if there is none.
    package func nextDueTime() async throws(StoreError) -> Date? {
        try await read { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT min(available_at) FROM job INDEXED BY job_due WHERE state IN ('scheduled', 'retryable')
                    """
            )
            return try Int64.fetchOne(statement).map(Date.init(milliseconds:))
        }
    }

    /// Milliseconds after its last attempt from which a suspect no longer waits for all other jobs to be done.
    private static let suspectPatience: Int64 = 60_000

    /// Whether a suspect (see ``ClaimKind/suspect``) has waited for long enough.
    package func hasOverdueSuspect(queues: [String]?) async throws(StoreError) -> Bool {
        let limit = nowMilliseconds - Self.suspectPatience
        return try await read { db in
            let names = try String.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT DISTINCT queue FROM job INDEXED BY job_suspect
                        WHERE state = 'available' AND crash_count >= 3 AND attempted_at <= ?
                        """
                ),
                arguments: [limit]
            )
            return try !Set(names).isDisjoint(with: Self.claimableQueues(db, queues))
        }
    }

    private static func hasDueJobs(_ db: Database, now: Int64) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                  SELECT 1 FROM job INDEXED BY job_due
                  WHERE state IN ('scheduled', 'retryable') AND available_at <= ?)
                """
        )
        return try Bool.fetchOne(statement, arguments: [now]) ?? false
    }

    private static func claimableQueues(_ db: Database, _ wanted: [String]?) throws -> [String] {
        let names = try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT queue FROM job_count JOIN queue ON queue.name = job_count.queue
                    WHERE job_count.state = 'available' AND job_count.count > 0 AND NOT queue.paused
                    """
            )
        )
        guard let wanted else { return names }
        return names.filter(wanted.contains)
    }

    private static func promoteDueJobs(_ db: Database, now: Int64) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE job SET state = 'available' WHERE id IN (
                  SELECT id FROM job INDEXED BY job_due
                  WHERE state IN ('scheduled', 'retryable') AND available_at <= ? ORDER BY available_at LIMIT ?)
                """
        )
        try statement.execute(arguments: [now, promotions])
    }

    private static func take(
        _ limit: Int,
        _ kind: ClaimKind,
        from queues: [String],
        for worker: String,
        now: Int64,
        in db: Database
    ) throws -> [ClaimedJob] {
        // One ordered walk of a partial index a queue, merged here: no sort over all that waits, no limit on queues.
        let candidates = try db.cachedStatement(
            sql: """
                SELECT id, rank FROM job INDEXED BY \(kind == .suspect ? "job_suspect" : "job_claim")
                WHERE state = 'available' AND queue = ? AND \(kind == .suspect ? "crash_count >= 3" : "crash_count < 3")
                ORDER BY rank LIMIT ?
                """
        )
        let first = try queues.flatMap { queue in try Row.fetchAll(candidates, arguments: [queue, limit]) }
            .map { (rank: $0["rank"] as Int64, id: $0["id"] as Int64) }.sorted { $0 < $1 }.prefix(limit)
        let statement = try db.cachedStatement(
            sql: """
                UPDATE job SET
                  state = 'running', attempt = attempt + 1, attempted_at = ?, worker = ?,
                  claim_token = lower(hex(randomblob(16)))
                WHERE id IN (SELECT value FROM json_each(?))
                RETURNING id, claim_token, request, queue, attempt, max_attempts, crash_count, failure, upload_id,
                  created_at, available_at, rank
                """
        )
        let ids = JSONValue.array(first.map { .integer($0.id) }).canonicalText
        // RETURNING comes in any order.
        let rows = try Row.fetchAll(statement, arguments: [now, worker, ids])
            .sorted { ($0["rank"] as Int64, $0["id"] as Int64) < ($1["rank"], $1["id"]) }
        let open = try db.cachedStatement(
            sql: """
                INSERT INTO attempt(job_id, number, claim_token, worker, started_at)
                VALUES (?, (SELECT coalesce(max(number), 0) + 1 FROM attempt WHERE job_id = ?), ?, ?, ?)
                """
        )
        return try rows.map { row in
            let claim = Claim(jobID: row["id"], token: row["claim_token"])
            try open.execute(arguments: [claim.jobID, claim.jobID, claim.token, worker, now])
            return ClaimedJob(
                claim: claim,
                request: row["request"],
                queue: row["queue"],
                attempt: row["attempt"],
                maxAttempts: row["max_attempts"],
                crashCount: row["crash_count"],
                previousFailure: try JobFailure.from(stored: row["failure"]),
                hasUpload: row["upload_id"] != nil,
                createdAt: Date(milliseconds: row["created_at"]),
                availableAt: Date(milliseconds: row["available_at"])
            )
        }
    }
}
