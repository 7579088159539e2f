internal import CameoModel
package import Foundation
internal import GRDB

extension Store {
    /// Scheduled and retryable jobs made available in one claim, at most.
    private static let promotions = 1_000

    /// Takes up to `limit` jobs for a worker, lowest rank first, charging each an attempt. Empty when nothing is due, no
    /// queue and no concurrency key has room, or the worker was asked to end. Takes only from `queues`, or from all when
    /// that is nil; paused queues give nothing. `worker` is the id of a registered worker.
    package func claim(
        limit: Int,
        kind: ClaimKind = .usual,
        queues: [String]? = nil,
        for worker: String
    ) async throws(StoreError) -> [ClaimedJob] {
        try await nameWaitingJobs()
        let now = nowMilliseconds
        let isWorthwhile = try await read { db in try Self.mayClaim(db, queues, now: now) }
        guard limit > 0, isWorthwhile else { return [] }
        return try await commit { db in
            // Its own look at the request may be yet to come; who made the request has had the answer.
            guard try Self.stopRequest(for: worker, db) == nil else { return [] }
            try Self.promoteDueJobs(db, now: now)
            var jobs: [ClaimedJob] = []
            var isCutShort = true
            // Jobs of one key may stand open in several queues, more than the key has room for: those that were passed
            // over are held by the next round, which sees what is behind them.
            while isCutShort, jobs.count < limit {
                try Self.decideWhoIsHeld(db)
                let open = try Self.openQueues(db, queues)
                let choice = try Self.choose(limit - jobs.count, kind, from: open, db)
                jobs += try Self.take(choice.ids, for: worker, now: now, in: db)
                // Only what was taken can change the next round: under the write lock nobody may go round in circles.
                isCutShort = choice.isCutShort && !choice.ids.isEmpty
            }
            return jobs
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
                        WHERE state = 'available' AND crash_count >= 3 AND held = 0 AND attempted_at <= ?
                        """
                ),
                arguments: [limit]
            )
            return try !Set(names).isDisjoint(with: Self.openQueues(db, queues).map(\.name))
        }
    }

    /// Whether a claim could find anything, or could change what the next one finds: asked before the write lock is taken.
    private static func mayClaim(_ db: Database, _ wanted: [String]?, now: Int64) throws -> Bool {
        let due = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM job INDEXED BY job_due
                    WHERE state IN ('scheduled', 'retryable') AND available_at <= ?)
                  OR EXISTS (SELECT 1 FROM concurrency INDEXED BY concurrency_changed WHERE changed = 1)
                """
        )
        if try Bool.fetchOne(due, arguments: [now]) == true { return true }
        let ready = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                  SELECT 1 FROM job INDEXED BY job_ready WHERE state = 'available' AND held = 0 AND queue = ?)
                """
        )
        return try openQueues(db, wanted).contains { try Bool.fetchOne(ready, arguments: [$0.name]) == true }
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

    /// The jobs to take, by rank, within the room of their queues and keys.
    private static func choose(
        _ limit: Int,
        _ kind: ClaimKind,
        from queues: [OpenQueue],
        _ db: Database
    ) throws -> (ids: [Int64], isCutShort: Bool) {
        // One ordered walk of a partial index a queue, merged here: no sort over all that waits, no limit on queues.
        let candidates = try db.cachedStatement(
            sql: """
                SELECT id, rank, concurrency_key FROM job INDEXED BY \(kind == .suspect ? "job_suspect" : "job_ready")
                WHERE state = 'available' AND held = 0 AND queue = ?
                  AND \(kind == .suspect ? "crash_count >= 3" : "crash_count < 3")
                ORDER BY rank LIMIT ?
                """
        )
        let first = try queues.flatMap { queue in
            try Row.fetchAll(candidates, arguments: [queue.name, min(limit, queue.room)])
        }
        .map { (rank: $0["rank"] as Int64, id: $0["id"] as Int64, key: $0["concurrency_key"] as String?) }
        .sorted { ($0.rank, $0.id) < ($1.rank, $1.id) }
        var rooms: [String: Int] = [:]
        var ids: [Int64] = []
        for job in first where ids.count < limit {
            if let key = job.key {
                let room = try rooms[key] ?? Self.room(of: key, db)
                rooms[key] = room - 1
                // What comes behind must not overtake those that the next round finds in its place.
                guard room > 0 else { return (ids, true) }
            }
            ids.append(job.id)
        }
        return (ids, false)
    }

    private static func take(
        _ ids: [Int64],
        for worker: String,
        now: Int64,
        in db: Database
    ) throws -> [ClaimedJob] {
        guard !ids.isEmpty else { return [] }
        let statement = try db.cachedStatement(
            sql: """
                UPDATE job SET
                  state = 'running', joinable = 0, attempt = attempt + 1, attempted_at = ?, worker = ?,
                  claim_token = lower(hex(randomblob(16)))
                WHERE id IN (SELECT value FROM json_each(?))
                RETURNING id, claim_token, request, queue, attempt, max_attempts, crash_count, failure, upload_id,
                  created_at, available_at, rank
                """
        )
        let list = JSONValue.array(ids.map(JSONValue.integer)).canonicalText
        // RETURNING comes in any order.
        let rows = try Row.fetchAll(statement, arguments: [now, worker, list])
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
