package import CameoModel
package import CameoQueue
package import CameoStore

/// Rows of jobs: new ones, and the history of attempts and ends.
extension SQLiteTransaction {
    package func end(_ task: TaskRow, from before: JobState?, _ end: End) throws {
        do {
            try execute(Self.insertionOfOutcome, OutcomeRow(task, end, at: now).values)
        } catch let error as SQLiteError where isDeleted(task, error) {
            if let before { try forget(task, from: before) }
            return
        }
        // A task without an outcome is not deleted (`Schema.refusals`).
        if before != nil { try delete(task) }
        try enter(end, of: task, from: before)
    }

    package func close(_ task: TaskRow, as outcome: JobAttempt.Outcome, failure: JobFailure?, timings: AttemptTimings)
        throws
        -> Bool
    {
        do {
            settleCharge(of: task, timings)
            try execute(Self.insertionOfAttempt, AttemptRow(task, outcome, failure, timings, at: now).values)
            return true
        } catch let error as SQLiteError where isDeleted(task, error) {
            try forget(task, from: .running)
            return false
        }
    }

    private static let insertionOfOutcome = RecordKind.outcome.names.insertion(into: "outcome")
    private static let insertionOfAttempt = RecordKind.attempt.names.insertion(into: "attempt")

    /// Whether an error is due to a job's row, which another program has deleted.
    private func isDeleted(_ task: TaskRow, _ error: SQLiteError) -> Bool {
        guard error.isDanglingReference else { return false }
        // If even that fails, the error is thrown that led here.
        return (try? value("SELECT NOT EXISTS (SELECT 1 FROM job WHERE id = ?1)", [task.id])) ?? false
    }

    /// Removes the task of a job whose row another program has deleted.
    package func forget(_ task: TaskRow, from before: JobState) throws {
        try delete(task)
        move(task, from: before, to: nil)
    }

    /// Completes the job of a claim (invariant I1).
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)``
    func complete(_ claim: Claim, timings: AttemptTimings) throws {
        let task = try take(claim)
        guard try close(task, as: .completed, failure: nil, timings: timings) else { return }
        try end(task, from: .running, End(.completed))
    }

    package func task(of claim: Claim) throws -> TaskRow {
        let found = try tasks("WHERE id = ?1 AND token = ?2 AND \(TaskRow.isRunning)", [claim.jobID, claim.token])
        guard let task = found.first else { throw StoreError.leaseLost(jobID: claim.jobID) }
        return task
    }

    /// A claim is in its row alone.
    package func loseClaim(of task: TaskRow) {}

    package func removeOutcome(of id: Int64) throws { try execute("DELETE FROM outcome WHERE id = ?1", [id]) }

    package var runningLease: (condition: String, values: [(any SQLBindable)?]) {
        ("lease_until >= ?4 AND boot_id = ?5", [clock.uptime(), BootIdentity.current])
    }

    package func insertJob(_ request: String) throws -> Int64 {
        try execute("INSERT INTO job(request, created_at) VALUES (?1, ?2)", [request, now])
        return connection.lastInsertedRow
    }

    package func record(_ entries: [NewTask]) throws {
        for entry in entries {
            let (new, task) = (entry.new, entry.task)
            try execute(
                """
                INSERT INTO accepted(id, queue, key, tenant, unique_key, thumbnails)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                """,
                [task.id, task.queue, task.key, task.tenant, task.uniqueKey, new.thumbnails]
            )
            // Those of an upload are known once its bytes are read.
            if !new.wanted.isEmpty { try label([(new.request, new.wanted.map(\.id))]) }
            for wanted in new.wanted { try execute(Promise.insertion, [task.id, wanted.id.text]) }
            for name in new.ingredients { try need(name, for: task.id) }
            if task.isHooked { try note(hook: new.request.hook, ofQueue: task.queue, for: task.id) }
            if let batch = new.request.batch { try enter([batch], task.id) }
        }
    }

    /// Only one process writes at a time.
    package func lock(_ receipt: FirstReceipt) {}
}
