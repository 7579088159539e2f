package import CameoModel
package import CameoQueue
package import CameoStore

/// What ends of jobs and attempts write, and what the rules of the queue ask of tasks.
extension PostgreSQLTransaction {
    package func end(_ task: TaskRow, from before: JobState?, _ end: End) throws {
        switch before {
        case .running:
            loseClaim(of: task)
            unwritten.ended.append(task.id)
        // At once: another job of its unique key may wait next.
        case .scheduled, .available, .retryable: try delete(task)
        case .completed, .discarded, .cancelled, nil: break
        }
        unwritten.outcomes.append(try OutcomeRow(task, end, at: now))
        try enter(end, of: task, from: before)
    }

    package func close(_ task: TaskRow, as outcome: JobAttempt.Outcome, failure: JobFailure?, timings: AttemptTimings)
        throws
        -> Bool
    {
        settleCharge(of: task, timings)
        unwritten.attempts.append(try AttemptRow(task, outcome, failure, timings, at: now))
        return true
    }

    package func removeOutcome(of id: Int64) throws {
        try execute([
            .init(
                """
                INSERT INTO earlier_attempt(\(Schema.attemptColumns))
                SELECT \(Schema.finalAttempt) FROM outcome WHERE id = $1 AND number IS NOT NULL
                """,
                [id]
            ),
            .init("DELETE FROM outcome WHERE id = $1", [id]),
        ])
    }

    package var runningLease: (condition: String, values: [(any SQLBindable)?]) { ("lease_until >= ?4", [now]) }

    package var lockingOfTasks: String { opening.isWriting ? "FOR UPDATE OF task" : "" }

    package func lock(_ receipt: FirstReceipt) throws {
        try execute(Schema.lockingReceipt("$1", "$2"), [receipt.key.text, receipt.request])
    }

    /// Moves changes of counts into the rows that they change, unless another transaction is doing so.
    func foldCounts() throws {
        guard try tryLock(.fold) else { return }
        let columns = Ledger.Counts.columns
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
                DELETE FROM lane_cost WHERE NOT EXISTS (
                  SELECT 1 FROM lane WHERE lane.id = lane_cost.lane AND lane.used IS NOT NULL)
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
