package import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    package func hooks(failures limit: Int) async throws(StoreError) -> [HookReport] {
        let now = clock.now()
        // Apart, because it counts every delivery that is kept.
        return try await readApart { db in
            let names = try String.fetchAll(
                db,
                sql: """
                    SELECT hook FROM (\(Self.namesOfDeliveries)) UNION SELECT hook FROM worker_hook
                    UNION SELECT hook FROM queue WHERE hook IS NOT NULL ORDER BY hook
                    """
            )
            return try names.map { try Self.report($0, failures: limit, now: now, db) }
        }
    }

    /// The distinct names in the table of deliveries, found by one step in the index for each.
    private static let namesOfDeliveries = """
        WITH RECURSIVE name(hook) AS (
          SELECT min(hook) FROM delivery
          UNION ALL SELECT (SELECT min(hook) FROM delivery WHERE hook > name.hook) FROM name WHERE hook IS NOT NULL)
        SELECT hook FROM name WHERE hook IS NOT NULL
        """

    private static func report(_ hook: String, failures limit: Int, now: Date, _ db: Database) throws -> HookReport {
        var counts = [0, 0, 0, 0]
        let count = "SELECT status, count(*) FROM delivery WHERE hook = ? GROUP BY status"
        for row in try Row.fetchAll(db, sql: count, arguments: [hook]) { counts[row[0]] = row[1] }
        let waiting = "FROM delivery WHERE hook = ? AND status = 0"
        let oldest = try Int64.fetchOne(db, sql: "SELECT min(ended_at) \(waiting)", arguments: [hook])
        let failures = try Row.fetchAll(
            db,
            sql: """
                SELECT id, job_id, tries, at, trouble FROM delivery WHERE hook = ? AND status = 3
                ORDER BY at DESC, seq DESC LIMIT ?
                """,
            arguments: [hook, limit]
        )
        return HookReport(
            name: hook,
            isKnown: try Bool.fetchOne(
                db,
                sql: "SELECT EXISTS (SELECT 1 FROM worker_hook WHERE hook = ?)",
                arguments: [hook]
            ) ?? false,
            queues: try String.fetchAll(
                db,
                sql: "SELECT name FROM queue WHERE hook = ? ORDER BY name",
                arguments: [hook]
            ),
            counts: (counts[0], counts[1], counts[2], counts[3]),
            oldestWaitingSeconds: oldest.map { max(0, now.timeIntervalSince(Date(milliseconds: $0))) },
            trouble: try String.fetchOne(
                db,
                sql: "SELECT trouble \(waiting) AND trouble IS NOT NULL ORDER BY at DESC LIMIT 1",
                arguments: [hook]
            ),
            failures: failures.map { row in
                HookReport.Failure(
                    id: row["id"],
                    job: row["job_id"],
                    tries: row["tries"],
                    failedAt: Date(milliseconds: row["at"]),
                    reason: row["trouble"] ?? ""
                )
            }
        )
    }

    /// How long a delivery stays due without a worker that takes it, in milliseconds.
    private static let unclaimedAge: Int64 = 7 * 86_400_000

    /// Gives up deliveries that no worker knows how to make, so that they do not keep their jobs for ever.
    func giveUpUnclaimedDeliveries(now: Int64, _ steps: inout PruneSteps) async throws {
        let limit = now - Self.unclaimedAge
        let hooks = try await read { db in
            try String.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT hook FROM (\(Self.namesOfDeliveries)) AS names
                        WHERE EXISTS (SELECT 1 FROM delivery WHERE delivery.hook = names.hook AND status = 0 AND at < ?)
                        """
                ),
                arguments: [limit]
            )
        }
        for hook in hooks {
            var isLeft = true
            while isLeft {
                try await steps.take { () throws(StoreError) in
                    isLeft = try await commit { db in
                        let giveUp = try db.cachedStatement(
                            sql: """
                                UPDATE delivery SET status = 3, at = ?,
                                  trouble = 'no worker that knows the hook took it for a week'
                                WHERE seq IN (SELECT seq FROM delivery WHERE hook = ? AND status = 0 AND at < ? LIMIT ?)
                                """
                        )
                        try giveUp.execute(arguments: [now, hook, limit, PruneSteps.size])
                        return db.changesCount == PruneSteps.size
                    }
                    return Pruned()
                }
            }
        }
    }
}
