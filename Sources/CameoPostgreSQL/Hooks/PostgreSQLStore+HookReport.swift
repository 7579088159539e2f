package import CameoModel
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    package func hooks(failures limit: Int) async throws(StoreError) -> [HookReport] {
        try await read { db in
            let now = Date(milliseconds: db.now)
            let names: [String] = try db.column(
                """
                \(Self.namesOfDeliveries) UNION SELECT hook FROM worker_hook
                UNION SELECT hook FROM queue WHERE hook IS NOT NULL ORDER BY hook
                """
            )
            return try names.map { try Self.report($0, failures: limit, now: now, db) }
        }
    }

    /// The distinct names in the table of deliveries, found by one step in the index for each.
    private static let namesOfDeliveries = """
        (WITH RECURSIVE name(hook) AS (
          (SELECT hook FROM delivery ORDER BY hook LIMIT 1)
          UNION ALL SELECT (SELECT delivery.hook FROM delivery WHERE delivery.hook > name.hook ORDER BY delivery.hook LIMIT 1)
            FROM name WHERE name.hook IS NOT NULL)
        SELECT hook FROM name WHERE hook IS NOT NULL)
        """

    private static func report(_ hook: String, failures limit: Int, now: Date, _ db: Database) throws -> HookReport {
        var counts = [0, 0, 0, 0]
        for row in try db.query("SELECT status, count(*) FROM delivery WHERE hook = $1 GROUP BY status", [hook]) {
            counts[try row[0]] = try row[1]
        }
        let facts = try db.query(
            """
            SELECT
              (SELECT min(ended_at) FROM delivery WHERE hook = $1 AND status = 0),
              (SELECT trouble FROM delivery WHERE hook = $1 AND status = 0 AND trouble IS NOT NULL ORDER BY at DESC LIMIT 1),
              EXISTS (SELECT 1 FROM worker_hook WHERE hook = $1)
            """,
            [hook]
        )[0]
        let failures = try db.query(
            """
            SELECT id, job_id, tries, at, trouble FROM delivery WHERE hook = $1 AND status = 3
            ORDER BY at DESC, seq DESC LIMIT $2
            """,
            [hook, limit]
        )
        return try HookReport(
            name: hook,
            isKnown: facts[2],
            queues: db.column("SELECT name FROM queue WHERE hook = $1 ORDER BY name", [hook]),
            counts: (counts[0], counts[1], counts[2], counts[3]),
            oldestWaitingSeconds: (facts[0] as Int64?).map { max(0, now.timeIntervalSince(Date(milliseconds: $0))) },
            trouble: facts[1],
            failures: failures.map { row in
                try HookReport.Failure(
                    id: row[0],
                    job: row[1],
                    tries: row[2],
                    failedAt: Date(milliseconds: row[3]),
                    reason: row[4] ?? ""
                )
            }
        )
    }

    /// How long a delivery stays due without a worker that takes it, in milliseconds.
    private static let unclaimedAge: Int64 = 7 * 86_400_000

    /// Gives up deliveries that no worker knows how to make, so that they do not keep their jobs for ever.
    func giveUpUnclaimedDeliveries(now: Int64, _ steps: inout PruneSteps) async throws {
        let limit = now - Self.unclaimedAge
        try await steps.take { db in
            let count = try db.execute(
                """
                UPDATE delivery SET status = 3, at = $1, trouble = 'no worker that knows the hook took it for a week'
                WHERE seq = ANY (ARRAY(
                  SELECT due.seq FROM \(Self.namesOfDeliveries) AS names, LATERAL (
                    SELECT seq FROM delivery WHERE delivery.hook = names.hook AND status = 0 AND at < $2
                    LIMIT $3 FOR UPDATE SKIP LOCKED) AS due
                  LIMIT $3))
                """,
                [now, limit, PruneSteps.size]
            )
            return PruneStep(isLast: count < PruneSteps.size)
        }
    }
}
