internal import CameoModel
internal import CameoQueue
package import CameoStore

/// What only this engine knows of a status.
extension PostgreSQLTransaction {
    package func schemaVersion() -> Int { Schema.currentVersion }

    package func commitWaitSeconds() throws -> Double? {
        try value(
            """
            SELECT extract(epoch FROM clock_timestamp() - min(state_change))::float8 FROM pg_stat_activity
            WHERE wait_event = 'SyncRep' AND datname = current_database()
              AND state_change < clock_timestamp() - interval '3 seconds'
            """,
            []
        )
    }

    /// A worker is alive while its lease runs.
    package func isAlive(_ worker: String, leaseUntil: Int64) -> Bool { leaseUntil >= now }

    package func numbersOfChanges(since time: Int64) throws -> ClosedRange<Int64>? {
        guard let last: Int64 = try value("SELECT max(last) FROM change") else { return nil }
        let first: Int64? = try value(
            """
            WITH RECURSIVE step(low, high) AS (
              SELECT (SELECT last - cardinality(jobs) + 1 FROM change ORDER BY last LIMIT 1), $2::bigint
              UNION ALL
              SELECT CASE WHEN next.at >= $1 THEN low ELSE middle + 1 END, CASE WHEN next.at >= $1 THEN middle ELSE high END
              FROM step, LATERAL (SELECT (low + high) / 2 AS middle) AS half,
                LATERAL (SELECT at FROM change WHERE last >= middle ORDER BY last LIMIT 1) AS next
              WHERE low < high)
            SELECT low FROM step, LATERAL (SELECT at FROM change WHERE last >= low ORDER BY last LIMIT 1) AS found
            WHERE low = high AND at >= $1
            """,
            [time, last]
        )
        return first.map { $0...last }
    }
}

extension PostgreSQLStore {
    package func metrics() async throws(StoreError) -> StoreMetrics {
        try await read { db -> StoreMetrics in
            let row = try db.row(
                """
                SELECT coalesce((SELECT sum(renderers) FROM worker WHERE lease_until >= $1), 0)::bigint AS renderers,
                  coalesce((SELECT sum(pg_total_relation_size(oid)) FROM pg_class
                    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'S')), 0)::bigint AS bytes
                """,
                [db.now]
            )
            guard let row else { throw StoreError.failed("the server gave no sizes") }
            return try (
                counters: db.counters(), renderers: row["renderers"], databaseBytes: row["bytes"], freeBytes: nil
            )
        }
    }
}
