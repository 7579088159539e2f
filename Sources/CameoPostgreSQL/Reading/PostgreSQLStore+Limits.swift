package import CameoModel
package import CameoStore

extension PostgreSQLStore {
    package func concurrencyLimits() async throws(StoreError) -> [ConcurrencyLimit] {
        try await read { db in
            try db.query(
                """
                SELECT \(ConcurrencyLimit.columns) FROM key
                WHERE fixed OR rate_count IS NOT NULL OR EXISTS (
                    SELECT 1 FROM task WHERE task.key = key.id AND key <> 0 AND state = 2)
                  OR EXISTS (SELECT 1 FROM lane WHERE lane.key = key.id AND head IS NOT NULL)
                ORDER BY name
                """
            )
            .map(ConcurrencyLimit.init)
        }
    }

    package func concurrencyLimit(of key: String) async throws(StoreError) -> ConcurrencyLimit {
        try await read { db in
            try db.row("SELECT \(ConcurrencyLimit.columns) FROM key WHERE name = $1", [key])
                .map(ConcurrencyLimit.init)
                ?? ConcurrencyLimit(key: key, maxRunning: 1, running: 0, isFixed: false)
        }
    }
}

extension ConcurrencyLimit {
    fileprivate static let columns = """
        name, max_running, fixed, (SELECT count(*) FROM task WHERE task.key = key.id AND key <> 0 AND state = 2),
        rate_count, rate_period
        """

    fileprivate init(_ row: Row) throws {
        try self.init(
            key: row[0],
            maxRunning: row[1],
            running: row[3],
            isFixed: row[2],
            rate: (row[4] as Int?).map { try StartRate(count: $0, period: row[5]).description }
        )
    }
}
