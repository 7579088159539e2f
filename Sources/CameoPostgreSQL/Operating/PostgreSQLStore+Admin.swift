package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation

extension PostgreSQLStore {
    package func cancel(_ id: Int64) async throws(StoreError) -> JobState {
        try await changeJob(id) { db in try Self.cancel(id, db) }
    }

    package func retry(_ id: Int64) async throws(StoreError) -> RetriedJob {
        try await changeJob(id) { db in try Self.retry(id, db) }
    }

    package func snooze(_ id: Int64, until time: Date) async throws(StoreError) -> JobState {
        try await changeJob(id) { db in
            switch try JobRow.find(id, db) {
            case nil: throw StoreError.noSuchJob(id)
            case .ended(let state)?: return state
            case .unfinished(let task)?:
                guard task.state != .running else { return task.state }
                var snoozed = task
                (snoozed.state, snoozed.due) = (.scheduled, time.milliseconds)
                try snoozed.update(db)
                db.move(snoozed, from: task.state, to: .scheduled)
                return task.state
            }
        }
    }

    /// Commits a change of a job, which must have been accepted.
    private func changeJob<Value: Sendable>(
        _ id: Int64,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        while try await read({ db in try Self.isArrival(id, db) }) { try await acceptArrivals() }
        return try await commit(.new, body)
    }

    /// Whether a job has not been accepted yet.
    private static func isArrival(_ id: Int64, _ db: Database) throws -> Bool {
        try db.value("SELECT EXISTS (SELECT 1 FROM arrival WHERE id = $1)", [id]) ?? false
    }

    /// - Returns: the state before; that of a job that has ended stays.
    static func cancel(_ id: Int64, _ db: Database) throws -> JobState {
        switch try JobRow.find(id, db) {
        case nil: throw StoreError.noSuchJob(id)
        case .ended(let state)?: return state
        case .unfinished(let task)?:
            let failure = try db.previousFailure(of: task)
            if task.state == .running { try db.close(task, as: .cancelled) }
            try db.end(task, from: task.state, End(state: .cancelled, failure: failure))
            return task.state
        }
    }

    static func retry(_ id: Int64, _ db: Database) throws -> RetriedJob {
        switch try JobRow.find(id, db) {
        case nil: throw StoreError.noSuchJob(id)
        case .unfinished(var task)?:
            let before = task.state
            guard before != .available, before != .running else {
                return RetriedJob(before: before, settlement: .asAsked)
            }
            (task.state, task.due, task.attempt, task.crashCount, task.failed) = (.available, db.now, 0, 0, nil)
            return RetriedJob(before: before, settlement: Settlement(try db.letWait(task, from: before)))
        case .ended(let before)?:
            // A refused request would be refused again, unless this version accepts more than the one that refused it.
            guard let task = try newTask(ofEnded: id, db) else {
                return RetriedJob(before: before, settlement: .asAsked)
            }
            try db.execute([
                .init(
                    """
                    INSERT INTO earlier_attempt(\(Schema.attemptColumns))
                    SELECT \(Schema.finalAttempt) FROM outcome WHERE id = $1 AND number IS NOT NULL
                    """,
                    [id]
                ),
                .init("DELETE FROM outcome WHERE id = $1", [id]),
            ])
            db.forget(before, in: task.queue)
            return RetriedJob(before: before, settlement: Settlement(try db.letWait(task, from: nil)))
        }
    }

    /// The task for a manual retry of an ended job; nil if its request is invalid.
    private static func newTask(ofEnded id: Int64, _ db: Database) throws -> TaskRow? {
        let row = try db.row(
            """
            SELECT request::text, unique_key, outcome.priority, accepted.id IS NULL, outcome.queue, accepted.key,
              (SELECT max(number) FROM attempt WHERE job_id = job.id), outcome.attempted_at,
              EXISTS (SELECT 1 FROM job_hook WHERE job_id = job.id)
            FROM job JOIN outcome ON outcome.id = job.id LEFT JOIN accepted ON accepted.id = job.id WHERE job.id = $1
            """,
            [id]
        )
        guard let row else { return nil }
        let new: NewJob
        do {
            new = try NewJob(ThumbnailRequest(parsing: (row[0] as String).utf8))
            if try row[3] { return try newTask(new, ofRefused: id, in: try row[4], db) }
        } catch is InvalidRequest {
            return nil
        }
        let (queue, key) = try (row[4] as Int64, row[5] as Int64)
        var task = TaskRow(
            id: id,
            queue: queue,
            key: key,
            lane: try db.lane(queue: queue, key: key),
            state: .available,
            priority: try row[2],
            due: db.now,
            maxAttempts: new.request.maxAttempts,
            refresh: new.request.refresh,
            uniqueKey: try row[1],
            upload: new.upload,
            isHooked: try row[8]
        )
        task.tries = try row[6] ?? 0
        task.attemptedAt = try row[7]
        return task
    }

    /// The task for a job that was refused at acceptance.
    private static func newTask(
        _ new: NewJob,
        ofRefused id: Int64,
        in queue: Int64,
        _ db: Database
    ) throws -> TaskRow? {
        let accepted = try db.newTask(new, as: id, createdAt: db.now)
        // The counters include the job in the queue in which it was refused.
        guard accepted.task.queue == queue else { return nil }
        try db.record([accepted])
        var task = accepted.task
        (task.state, task.due) = (.available, db.now)
        return task
    }
}

extension Database {
    /// The failure of a task's last failed attempt.
    func previousFailure(of task: TaskRow) throws -> JobFailure? {
        guard let number = task.failed else { return nil }
        let look = "SELECT failure FROM earlier_attempt WHERE job_id = $1 AND number = $2"
        return try JobFailure.from(stored: try value(look, [task.id, number]))
    }
}
