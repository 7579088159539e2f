package import CameoModel
internal import CameoStore
internal import Foundation

extension QueueTransaction {
    /// Every hook that a worker knows, a queue names or a delivery is for, with its last failures.
    package func hooks(failures limit: Int) throws -> [HookReport] {
        let names: [String] = try column(
            """
            SELECT hook FROM (\(namesOfDeliveries)) AS names UNION SELECT hook FROM worker_hook
            UNION SELECT hook FROM queue WHERE hook IS NOT NULL ORDER BY hook
            """
        )
        return try names.map { try report($0, failures: limit) }
    }

    /// The distinct names in the table of deliveries, found by one step in the index for each.
    package var namesOfDeliveries: String {
        """
        WITH RECURSIVE name(hook) AS (
          SELECT min(hook) FROM delivery
          UNION ALL SELECT (SELECT min(hook) FROM delivery WHERE delivery.hook > name.hook) FROM name
            WHERE name.hook IS NOT NULL)
        SELECT hook FROM name WHERE hook IS NOT NULL
        """
    }

    private func report(_ hook: String, failures limit: Int) throws -> HookReport {
        var counts = [0, 0, 0, 0]
        for row in try query("SELECT status, count(*) AS jobs FROM delivery WHERE hook = ?1 GROUP BY status", [hook]) {
            let status: Int = try row["status"]
            guard counts.indices.contains(status) else {
                throw StoreError.failed("a delivery has the status \(status)")
            }
            counts[status] = try row["jobs"]
        }
        let oldest: Int64? = try value("SELECT min(ended_at) FROM delivery WHERE hook = ?1 AND status = 0", [hook])
        let failures = try query(
            """
            SELECT id, job_id, tries, at, trouble FROM delivery WHERE hook = ?1 AND status = 3
            ORDER BY at DESC, seq DESC LIMIT ?2
            """,
            [hook, limit]
        )
        return HookReport(
            name: hook,
            isKnown: try value("SELECT EXISTS (SELECT 1 FROM worker_hook WHERE hook = ?1)", [hook]) ?? false,
            queues: try column("SELECT name FROM queue WHERE hook = ?1 ORDER BY name", [hook]),
            counts: (counts[0], counts[1], counts[2], counts[3]),
            oldestWaitingSeconds: oldest.map { max(0, (Double(now) - Double($0)) / 1_000) },
            trouble: try value(
                """
                SELECT trouble FROM delivery WHERE hook = ?1 AND status = 0 AND trouble IS NOT NULL
                ORDER BY at DESC LIMIT 1
                """,
                [hook]
            ),
            failures: try failures.map { row in
                HookReport.Failure(
                    id: try row["id"],
                    job: try row["job_id"],
                    tries: try row["tries"],
                    failedAt: Date(milliseconds: try row["at"]),
                    reason: try row["trouble"] ?? ""
                )
            }
        )
    }
}
