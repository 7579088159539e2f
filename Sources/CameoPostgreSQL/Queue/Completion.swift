internal import CameoModel
internal import CameoQueue
internal import CameoStore

/// A claim whose job is completed.
struct Completion {
    let claim: Claim
    let timings: AttemptTimings
}

// DESIGN. Nearly all jobs end by completion, so one statement does all that this takes: it removes the tasks whose claims
// are valid (invariant I1), and writes their history out of what the tasks have. Nothing is looked up before, and only
// what the rest of the transaction needs is returned.
extension PostgreSQLTransaction {
    /// The statement that completes jobs. `now` is the time in milliseconds since 1970; nil: the server's.
    static func completing(_ completions: [Completion], now: Int64?) -> Connection.Statement {
        // In the same order in every transaction: each locks the rows until its end.
        let sorted = completions.sorted { $0.claim.jobID < $1.claim.jobID }
        return .init(
            "SELECT * FROM complete_jobs(\((1...10).map { "$\($0)" }.joined(separator: ", ")))",
            [SQLArray(sorted.map(\.claim.jobID)), SQLArray(sorted.map(\.claim.token)), now]
                + AttemptTimings.columns(sorted.map(\.timings)),
            prepared: true
        )
    }

    /// Records the ends of the jobs that the statement has completed, for ``complete(_:timings:)``.
    func note(completed tasks: QueryResult) throws {
        for row in tasks.rows {
            let (token, id, queue): (String, Int64, Int64) = (try row[0], try row[1], try row[2])
            if try row[5] == true { ledger.limitedQueues.insert(queue) }
            ledger.completed.insert(token)
            let job = QueuedJob(id: id, queue: queue, key: try row[3], isHooked: try row[4])
            try enter(End(.completed), of: job, from: .running)
        }
    }

    /// Completes the job of a claim (invariant I1), unless that was done beforehand.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)``
    func complete(_ claim: Claim, timings: @autoclosure () -> AttemptTimings) throws {
        guard ledger.completed.remove(claim.token) == nil else { return }
        let task = try take(claim)
        ledger.completions.append(Completion(claim: claim, timings: timings()))
        try enter(End(.completed), of: QueuedJob(task), from: .running)
    }
}
