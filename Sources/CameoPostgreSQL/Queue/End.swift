internal import CameoModel
internal import CameoQueue
internal import CameoStore

/// How a job ends.
struct End {
    let state: JobState
    var failure: JobFailure?
    var supersededBy: Int64?
}

extension Database {
    /// Moves a job from the queue to the history, and enters the deliveries to its hooks. `before` is its previous
    /// state; nil if it has no task.
    func end(_ task: TaskRow, from before: JobState?, _ end: End) throws {
        switch before {
        case .running:
            loseClaim(of: task)
            ledger.ended.append(task.id)
        // At once: another job of its unique key may wait next.
        case .scheduled, .available, .retryable: try task.delete(self)
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
        try enter(end, of: task.id, in: task.queue, key: task.key, isHooked: task.isHooked, from: before)
    }

    /// Enters what every end of a job does: counts, the change feed, and the deliveries to its hooks.
    func enter(_ end: End, of id: Int64, in queue: Int64, key: Int64, isHooked: Bool, from before: JobState?) throws {
        move(id, in: queue, key: key, from: before, to: end.state)
        if end.state == .discarded, let failure = end.failure { fail(failure.code, .finalFailures) }
        // The job that superseded it has inherited its hooks.
        if isHooked, end.supersededBy == nil { try Hooks.enter(id, end, self) }
    }

    /// Records how the attempt of a running job ended.
    func close(
        _ task: TaskRow,
        as outcome: JobAttempt.Outcome,
        failure: JobFailure? = nil,
        timings: AttemptTimings = AttemptTimings()
    ) throws {
        let attempt = Ledger.Attempt(task: task, outcome: outcome, failure: try failure?.stored, timings: timings)
        ledger.attempts.append(attempt)
    }

    /// Releases a running job to wait again without counting the attempt. `deaths` is the number of worker deaths to
    /// add.
    func giveBack(_ task: TaskRow, deaths: Int) throws -> Settlement {
        loseClaim(of: task)
        var waiting = task
        waiting.state = .available
        (waiting.token, waiting.worker) = (nil, nil)
        waiting.attempt = max(0, task.attempt - 1)
        waiting.crashCount += deaths
        return Settlement(try letWait(waiting, from: .running))
    }
}
