package import CameoModel
package import CameoStore
package import Foundation

// What an operator does to one job.
extension QueueTransaction {
    /// The task of a job that has not ended, and the state, locked until the end of the transaction.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    private func find(_ id: Int64) throws -> (task: TaskRow?, state: JobState) {
        // Between two statements another transaction may end the job or retry it. One that retries a job just ended would
        // have to commit between each two of these.
        for _ in 0..<3 {
            if let task = try task(id) { return (task, task.state) }
            let code: Int? = try value("SELECT state FROM outcome WHERE id = ?1 \(dialect.locking)", [id])
            if let code { return (nil, try JobState(code: code)) }
        }
        throw StoreError.noSuchJob(id)
    }

    /// - Returns: the state before; that of a job that has ended stays.
    package func cancel(_ id: Int64) throws -> JobState {
        let (found, state) = try find(id)
        guard let task = found else { return state }
        let failure = try previousFailure(of: task)
        if state == .running, try !close(task, as: .cancelled) { return state }
        try end(task, from: state, End(.cancelled, failure: failure))
        return state
    }

    /// Makes a job run now that waits for later, or that has ended.
    package func retry(_ id: Int64) throws -> (before: JobState, supersededBy: Int64?) {
        let (found, before) = try find(id)
        if var task = found {
            guard before != .available, before != .running else { return (before, nil) }
            (task.state, task.due, task.attempt, task.crashCount, task.failed) = (.available, now, 0, 0, nil)
            return (before, try letWait(task, from: before)?.supersededBy)
        }
        // A refused request would be refused again, unless this version accepts more than the one that refused it.
        guard let task = try newTask(ofEnded: id) else { return (before, nil) }
        try removeOutcome(of: id)
        try promise(id)
        forget(before, in: task.queue)
        return (before, try letWait(task, from: nil)?.supersededBy)
    }

    /// Makes a waiting job wait until a time, and returns the state before; a running or ended job is left alone.
    package func snooze(_ id: Int64, until time: Date) throws -> JobState {
        let (found, state) = try find(id)
        guard var task = found, state != .running else { return state }
        (task.state, task.due) = (.scheduled, time.milliseconds)
        try update(task)
        move(task, from: state, to: .scheduled)
        return state
    }

    /// Changes those of the jobs that are still in one of the states, all if there are none, and returns their number.
    package func change(_ ids: [Int64], in states: [JobState], by change: BulkChange) throws -> Int {
        try ids.reduce(0) { changed, id in
            let state: JobState
            do {
                state = try find(id).state
            } catch StoreError.noSuchJob {
                // Retention has removed the job in the meantime.
                return changed
            }
            guard states.isEmpty || states.contains(state), change.applies(to: state) else { return changed }
            switch change {
            case .retry: _ = try retry(id)
            case .cancel: _ = try cancel(id)
            }
            return changed + 1
        }
    }

    /// The task for a manual retry of an ended job; nil if its request is invalid.
    private func newTask(ofEnded id: Int64) throws -> TaskRow? {
        let row = try row(
            """
            SELECT \(dialect.requestBytes) AS request, unique_key, outcome.priority AS priority,
              accepted.id IS NULL AS is_refused, outcome.queue AS queue, accepted.key AS key, accepted.tenant AS tenant,
              (SELECT max(number) FROM attempt WHERE job_id = job.id) AS tries, outcome.attempted_at AS attempted_at,
              EXISTS (SELECT 1 FROM job_hook WHERE job_id = job.id) AS is_hooked
            FROM job JOIN outcome ON outcome.id = job.id LEFT JOIN accepted ON accepted.id = job.id WHERE job.id = ?1
            """,
            [id]
        )
        guard let row else { return nil }
        let queue: Int64 = try row["queue"]
        let new: NewJob
        do {
            let request: Data = try row["request"]
            let isRefused: Bool = try row["is_refused"]
            new = try NewJob(isRefused ? ThumbnailRequest(parsing: request) : ThumbnailRequest(accepted: request))
            if isRefused {
                let entry = try newTask(new, as: id, createdAt: now)
                // The counters include the job in the queue in which it was refused.
                guard entry.task.queue == queue else { return nil }
                try record([entry])
                var task = entry.task
                (task.state, task.due) = (.available, now)
                return task
            }
        } catch is InvalidRequest {
            return nil
        }
        let (key, known): (Int64, Int64) = try (row["key"], row["tenant"])
        // That of a job that an older version accepted is not known.
        let tenant = try known == 0 ? tenant(of: new.request) : known
        var task = TaskRow(
            id: id,
            queue: queue,
            key: key,
            lane: try lane(Ledger.Place(queue: queue, key: key, tenant: tenant)),
            tenant: tenant,
            priority: try row["priority"],
            due: now,
            maxAttempts: new.request.maxAttempts,
            refresh: new.request.refresh,
            uniqueKey: try row["unique_key"],
            upload: new.upload,
            isHooked: try row["is_hooked"],
            sourceTail: new.upload == nil ? TaskRow.tail(of: new.request.source) : ""
        )
        task.tries = try row["tries"] ?? 0
        task.attemptedAt = try row["attempted_at"]
        return task
    }
}
