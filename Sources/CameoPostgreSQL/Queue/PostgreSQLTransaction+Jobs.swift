package import CameoModel
package import CameoQueue
internal import CameoStore

extension PostgreSQLTransaction {
    package func end(_ task: TaskRow, from before: JobState?, _ end: End) throws {
        switch before {
        case .running:
            loseClaim(of: task)
            ledger.ended.append(task.id)
        // At once: another job of its unique key may wait next.
        case .scheduled, .available, .retryable: try delete(task)
        case .completed, .discarded, .cancelled, nil: break
        }
        ledger.outcomes.append(
            Ledger.Outcome(
                task: task,
                state: end.state,
                failure: try end.failure?.stored,
                code: end.failure?.code.rawValue,
                supersededBy: end.supersededBy
            )
        )
        try enter(end, of: QueuedJob(task), from: before)
    }

    package func close(_ task: TaskRow, as outcome: JobAttempt.Outcome, failure: JobFailure?, timings: AttemptTimings)
        throws
        -> Bool
    {
        let attempt = Ledger.Attempt(task: task, outcome: outcome, failure: try failure?.stored, timings: timings)
        ledger.attempts.append(attempt)
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

    package func hosts(of task: TaskRow, besides worker: String, lacking lack: HostLack) throws -> [(
        host: String, lacks: Bool
    )] {
        try query(
            """
            SELECT host, EXISTS (
              SELECT 1 FROM worker_lack WHERE worker_lack.worker = worker.id AND lack = $1) AS lacks
            FROM worker
            WHERE id = $2 OR (stop_mode IS NULL AND lease_until >= $3
              AND (queues IS NULL OR (SELECT name FROM queue WHERE id = $4) = ANY(queues)))
            """,
            [lack.description, worker, now, task.queue]
        )
        .map { (host: try $0["host"], lacks: try $0["lacks"]) }
    }

    package func tasks(_ rest: String, _ values: [(any SQLBindable)?]) throws -> [TaskRow] {
        try query("SELECT \(TaskRow.columns) FROM task \(rest)\(isWriting ? " FOR UPDATE OF task" : "")", values)
            .map { try TaskRow($0) }
    }
}
