internal import CameoModel
package import CameoStore

extension PostgreSQLStore {
    package func metrics() async throws(StoreError) -> StoreMetrics {
        try await read { db in
            let row = try db.row(
                """
                SELECT coalesce((SELECT sum(renderers) FROM worker WHERE lease_until >= $1), 0)::bigint,
                  coalesce((SELECT sum(pg_total_relation_size(oid)) FROM pg_class
                    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'S')), 0)::bigint
                """,
                [db.now]
            )
            guard let row else { throw StoreError.failed("the server gave no sizes") }
            return try StoreMetrics(counters: Self.counters(db), renderers: row[0], databaseBytes: row[1])
        }
    }

    private static func counters(_ db: Database) throws -> StoreCounters {
        var counters = try everEnded(db)
        for row in try db.query("SELECT family, label, value FROM counter") {
            // A newer version may count more.
            guard let family = StoreCounters.Family(rawValue: try row[0]) else { continue }
            counters.add(try row[2], to: family, try row[1])
        }
        return counters
    }

    /// The jobs that have ever ended, by queue: of all queues, or of some.
    static func everEnded(in queues: [Int64]? = nil, _ db: Database) throws -> StoreCounters {
        let rows = try db.query(
            """
            SELECT name, ever_completed, ever_discarded, ever_cancelled
            FROM queue_total JOIN queue ON queue.id = queue_total.queue
            WHERE $1::bigint[] IS NULL OR queue.id = ANY($1)
            """,
            [queues.map { SQLArray($0) }]
        )
        var ended = StoreCounters()
        for row in rows {
            for (index, state) in JobState.ends.enumerated() {
                if let family = StoreCounters.Family(state) { ended.add(try row[index + 1], to: family, try row[0]) }
            }
        }
        return ended
    }
}
