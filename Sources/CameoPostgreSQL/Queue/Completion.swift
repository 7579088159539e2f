internal import CameoModel
internal import CameoStore

/// A claim whose job is completed.
struct Completion {
    let claim: Claim
    let timings: AttemptTimings
}

/// A job that was completed, as far as counts, keys and hooks have to know.
struct CompletedTask {
    let id: Int64
    let queue: Int64
    let key: Int64
    /// Whether its end is to be delivered to hooks.
    let isHooked: Bool
}

// DESIGN. Nearly all jobs end by completion, so one statement does all that this takes: it removes the tasks whose claims
// are valid (invariant I1), and writes their history out of what the tasks have. Nothing is looked up before, and only
// what the rest of the transaction needs is returned.
extension Database {
    /// The statement that completes jobs. `now` is the time in milliseconds since 1970; nil: the server's.
    static func completing(_ completions: [Completion], now: Int64?) -> Connection.Statement {
        // In the same order in every transaction: each locks the rows until its end.
        let sorted = completions.sorted { $0.claim.jobID < $1.claim.jobID }
        return .init(
            completion,
            [SQLArray(sorted.map(\.claim.jobID)), SQLArray(sorted.map(\.claim.token)), now]
                + AttemptTimings.columns(sorted.map(\.timings)),
            prepared: true
        )
    }

    /// A token is one job's alone, so that the two lists need not be matched pair by pair.
    static let completion = """
        WITH ended AS (
          DELETE FROM task WHERE id = ANY($1::bigint[]) AND token = ANY($2::text[])
          RETURNING id, queue, key, priority, due, attempt, max_attempts, crash_count, tries, attempted_at, token, worker,
            hooked),
        clock AS (SELECT coalesce($3, now_ms()) AS now),
        kept AS (
          INSERT INTO outcome(id, state, queue, priority, available_at, attempt, max_attempts, crash_count, attempted_at,
            finalized_at, number, worker, \(AttemptTimings.columnNames))
          SELECT id, \(JobState.completed.code), queue, priority, due, attempt, max_attempts, crash_count, attempted_at,
            now, tries, worker, \(AttemptTimings.columnNames)
          FROM unnest($2::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
              $10::bigint[])
              AS timed(token, \(AttemptTimings.columnNames))
            JOIN ended ON ended.token = timed.token CROSS JOIN clock)
        SELECT token, id, queue, key, hooked, (SELECT max_running IS NOT NULL FROM queue WHERE queue.id = ended.queue)
        FROM ended
        """

    /// Keeps what the statement has completed, for ``complete(_:timings:)``.
    func note(completed tasks: QueryResult) throws {
        for row in tasks.rows {
            let task = CompletedTask(id: try row[1], queue: try row[2], key: try row[3], isHooked: try row[4])
            ledger.completed[try row[0]] = task
            if try row[5] == true { ledger.limitedQueues.insert(task.queue) }
        }
    }

    /// Completes the job of a claim (invariant I1), unless that was done beforehand.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)``
    func complete(_ claim: Claim, timings: @autoclosure () -> AttemptTimings) throws {
        let task: CompletedTask
        if let done = ledger.completed.removeValue(forKey: claim.token) {
            task = done
        } else {
            let held = try takeTask(of: claim)
            task = CompletedTask(id: held.id, queue: held.queue, key: held.key, isHooked: held.isHooked)
            ledger.completions.append(Completion(claim: claim, timings: timings()))
        }
        move(task.id, in: task.queue, key: task.key, from: .running, to: .completed)
        if task.isHooked { try Hooks.enter(task.id, End(state: .completed), self) }
    }
}
