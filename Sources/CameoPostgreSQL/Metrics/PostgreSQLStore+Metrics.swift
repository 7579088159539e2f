internal import CameoModel
internal import CameoQueue
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
            return try StoreMetrics(counters: db.counters(), renderers: row[0], databaseBytes: row[1])
        }
    }
}
