package import CameoModel
internal import CameoStore

extension QueueTransaction {
    /// The keys that have a limit by an operator, or running or waiting jobs, by name.
    package func concurrencyLimits() throws -> [ConcurrencyLimit] {
        try limits(
            """
            WHERE fixed OR \(dialect.runningOfKey) > 0 OR rate_count IS NOT NULL OR EXISTS (
              SELECT 1 FROM lane \(dialect.indexed(by: "lane_key"))
              WHERE lane.key = key.id AND lane.key <> 0 AND head IS NOT NULL)
            ORDER BY name
            """,
            []
        )
    }

    /// The limit of a key; that of a key that nobody has used is one job.
    package func concurrencyLimit(of key: String) throws -> ConcurrencyLimit {
        try limits("WHERE name = ?1", [key]).first
            ?? ConcurrencyLimit(key: key, maxRunning: 1, running: 0, isFixed: false)
    }

    private func limits(_ rest: String, _ values: [(any SQLBindable)?]) throws -> [ConcurrencyLimit] {
        let columns = "name, max_running, fixed, \(dialect.runningOfKey) AS running, rate_count, rate_period"
        return try query("SELECT \(columns) FROM key \(rest)", values).map { row in
            try ConcurrencyLimit(
                key: row["name"],
                maxRunning: row["max_running"],
                running: row["running"],
                isFixed: row["fixed"],
                rate: (row["rate_count"] as Int?).map {
                    try StartRate(count: $0, period: row["rate_period"]).description
                }
            )
        }
    }
}
