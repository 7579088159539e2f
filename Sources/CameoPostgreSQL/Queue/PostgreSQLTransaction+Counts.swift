extension PostgreSQLTransaction {
    /// Moves changes of counts into the rows that they change, unless another transaction is doing so.
    func foldCounts() throws {
        guard try tryLock(.fold) else { return }
        let columns = [
            "scheduled", "available", "running", "retryable", "completed", "discarded", "cancelled", "ever_completed",
            "ever_discarded", "ever_cancelled",
        ]
        try execute([
            .init(
                """
                WITH gone AS (DELETE FROM queue_delta RETURNING *),
                  sums AS (SELECT queue, \(columns.map { "sum(\($0)) AS \($0)" }.joined(separator: ", "))
                    FROM gone GROUP BY queue)
                UPDATE queue_count SET \(columns.map { "\($0) = queue_count.\($0) + sums.\($0)" }.joined(separator: ", "))
                FROM sums WHERE sums.queue = queue_count.queue
                """
            ),
            .init(
                """
                WITH gone AS (DELETE FROM total_delta RETURNING *),
                  sums AS (SELECT name, sum(value) AS value FROM gone GROUP BY name)
                UPDATE total SET value = total.value + sums.value FROM sums WHERE sums.name = total.name
                """
            ),
        ])
    }
}
