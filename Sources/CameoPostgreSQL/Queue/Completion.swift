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
            "SELECT * FROM complete_jobs(\((1...10).map { "$\($0)" }.joined(separator: ", ")))",
            [SQLArray(sorted.map(\.claim.jobID)), SQLArray(sorted.map(\.claim.token)), now]
                + AttemptTimings.columns(sorted.map(\.timings)),
            prepared: true
        )
    }

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
