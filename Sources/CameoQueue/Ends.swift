package import CameoModel
package import CameoStore
internal import Foundation

/// How attempts and jobs end, and what a worker leaves behind.
extension LostJob {
    /// A job that ends because another program has deleted its row.
    package init(deleted id: Int64, from queue: String, attempt: Int) {
        let failure = JobFailure(.requestInvalid, at: .request, "another program has deleted its row")
        self.init(id: id, source: nil, queue: queue, attempt: attempt, failure: failure)
    }
}

extension QueueTransaction {
    /// Enters what every end of a job does, besides its outcome: counts, the change feed, and the deliveries to its hooks.
    package func enter(_ end: End, of task: TaskRow, from before: JobState?) throws {
        move(task, from: before, to: end.state)
        keepPromise(of: task, end)
        if end.state == .discarded, let failure = end.failure { fail(failure.code, .finalFailures) }
        // The job that superseded it has inherited its hooks.
        if task.isHooked, end.supersededBy == nil { try deliver(end, of: task.id) }
    }

    /// Makes a running job, whose claim has been taken, wait for another attempt.
    ///
    /// - Returns: its end, if another job superseded it.
    func retry(_ task: TaskRow, _ failure: JobFailure, at time: Date, _ timings: AttemptTimings) throws -> End? {
        let isRefused = failure.code == .storeRefused
        // Its history says so once: it may be refused for days.
        if isRefused, try previousFailure(of: task)?.code == .storeRefused { return try postpone(task, until: time) }
        guard try close(task, as: .retryable, failure: failure, timings: timings) else { return nil }
        fail(failure.code, .retriedFailures)
        var task = task
        (task.due, task.failed) = (time.milliseconds, task.tries)
        // That is not the job's fault, and counts as no attempt.
        if isRefused { task.attempt = max(0, task.attempt - 1) }
        return try backOff(task)
    }

    func discard(_ task: TaskRow, _ failure: JobFailure, _ timings: AttemptTimings) throws {
        guard try close(task, as: .discarded, failure: failure, timings: timings) else { return }
        try end(task, from: .running, End(.discarded, failure: failure))
    }

    private func backOff(_ task: TaskRow) throws -> End? {
        var task = task
        task.state = .retryable
        task.lose()
        return try letWait(task, from: .running)
    }

    /// Makes a running job wait until a time as if it had not been claimed.
    ///
    /// - Returns: its end, if another job superseded it.
    func postpone(_ task: TaskRow, until time: Date) throws -> End? {
        var task = task
        (task.due, task.attempt, task.tries) = (time.milliseconds, max(0, task.attempt - 1), task.tries - 1)
        return try backOff(task)
    }

    /// Leaves a running job to others until a time, or discards it if none can do it.
    ///
    /// - Returns: its end, if it does not wait.
    func leave(_ task: TaskRow, _ unable: HostUnable, until time: Date, _ timings: AttemptTimings) throws -> End? {
        guard let worker = task.worker else { throw StoreError.leaseLost(jobID: task.id) }
        try add(unable.lack, of: worker)
        // Those of the live workers that take jobs of its queue, and its own.
        let takes = dialect.takesQueue("(SELECT name FROM queue WHERE id = ?3)")
        let lease = runningLease
        let hosts: [(host: String, lacks: Bool)] = try query(
            """
            SELECT host, EXISTS (
              SELECT 1 FROM worker_lack WHERE worker_lack.worker = worker.id AND lack = ?1) AS lacks
            FROM worker
            WHERE id = ?2 OR (stop_mode IS NULL AND \(lease.condition) AND (queues IS NULL OR \(takes)))
            """,
            [unable.lack.description, worker, task.queue] + lease.values
        )
        .map { (host: try $0["host"], lacks: try $0["lacks"]) }
        guard let failure = unable.failure(on: hosts) else {
            settleCharge(of: task, timings)
            return try postpone(task, until: time)
        }
        try discard(task, failure, timings)
        // A request may name any folder: only of those that some host has, it is kept who lacks them.
        if case .files = unable.lack {
            try execute("DELETE FROM worker_lack WHERE lack = ?1", [unable.lack.description])
        }
        return End(.discarded, failure: failure)
    }

    /// Releases a running job to wait again without counting the attempt. `deaths` is the number of worker deaths to
    /// add.
    ///
    /// - Returns: its end, if another job superseded it.
    package func giveBack(_ task: TaskRow, deaths: Int) throws -> End? {
        loseClaim(of: task)
        var waiting = task
        waiting.state = .available
        waiting.lose()
        waiting.attempt = max(0, task.attempt - 1)
        waiting.crashCount += deaths
        return try letWait(waiting, from: .running)
    }

    /// Makes a running job available again, without counting its attempt.
    ///
    /// - Returns: its end, if another job superseded it.
    @discardableResult
    package func release(_ task: TaskRow, as outcome: JobAttempt.Outcome) throws -> End? {
        guard try close(task, as: outcome) else { return nil }
        return try giveBack(task, deaths: 0)
    }

    /// Records what a worker's host lacks.
    package func add(_ lack: HostLack, of worker: String) throws {
        try execute(
            "INSERT INTO worker_lack SELECT id, ?1 FROM worker WHERE id = ?2 ON CONFLICT DO NOTHING",
            [lack.description, worker]
        )
    }

    /// A worker's running jobs in the order of their ids, so that the first of two for the same thumbnails waits again.
    package func runningTasks(of worker: String) throws -> [TaskRow] {
        let ofWorker = "\(dialect.indexed(by: "task_running")) WHERE \(TaskRow.isRunning) AND worker = ?1"
        return try tasks("\(ofWorker) ORDER BY id", [worker])
    }

    /// The claims that a worker holds.
    package func claims(of worker: String) throws -> Set<Claim> {
        Set(try query(dialect.claimsOfWorker, [worker]).map { try Claim(jobID: $0["id"], token: $0["token"]) })
    }

    /// Removes a worker, and makes what it has claimed wait again.
    package func deregister(_ worker: String) throws {
        for task in try runningTasks(of: worker) { try release(task, as: .released) }
        try releaseDeliveries(of: worker)
        try execute("DELETE FROM worker WHERE id = ?1", [worker])
    }

    /// Makes the jobs and deliveries of a lost worker wait again, and removes it if it is dead; jobs are discarded after too
    /// many deaths. They are not to blame for a worker that is only silent: it may be cut off, or frozen by suspend or a
    /// debugger.
    ///
    /// - Returns: the jobs that it was running.
    @discardableResult
    package func rescueJobs(of worker: String, isDead: Bool, into report: inout RescueReport) throws -> [TaskRow] {
        report.workers.append(worker)
        let (running, deaths) = (try runningTasks(of: worker), isDead ? 1 : 0)
        for var task in running where try close(task, as: .interrupted) {
            if task.crashCount + deaths >= ClaimKind.discardAfterCrashes {
                task.crashCount += deaths
                try discardLost(task, into: &report)
            } else if try giveBack(task, deaths: deaths) == nil {
                report.rescued += 1
            }
        }
        try releaseDeliveries(of: worker)
        if isDead { try execute("DELETE FROM worker WHERE id = ?1", [worker]) }
        return running
    }

    /// Discards a job whose workers died too often.
    package func discardLost(_ task: TaskRow, into report: inout RescueReport) throws {
        let failure = JobFailure(
            .workerLost,
            at: .worker,
            "a worker died while running this job for the \(ClaimKind.discardAfterCrashes)th time"
        )
        try end(task, from: task.state, End(.discarded, failure: failure))
        let row = try row(
            """
            SELECT \(dialect.field("source")) AS source, (SELECT name FROM queue WHERE id = ?2) AS queue
            FROM job WHERE id = ?1
            """,
            [task.id, task.queue]
        )
        report.discarded.append(
            LostJob(
                id: task.id,
                source: try row?["source"],
                queue: try row?["queue"] ?? "",
                attempt: task.attempt,
                failure: failure
            )
        )
    }
}
