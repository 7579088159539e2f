package import CameoModel
package import CameoStore
package import Foundation
internal import GRDB

extension SQLiteStore {
    package func cancel(_ id: Int64) async throws(StoreError) -> JobState {
        try await acceptAll(through: id)
        return try await commit { db in
            let before = try Self.cancel(id, db)
            try db.flush()
            return before
        }
    }

    package func retry(_ id: Int64) async throws(StoreError) -> RetriedJob {
        try await acceptAll(through: id)
        return try await commit { db in
            let retried = try Self.retry(id, db)
            try db.flush()
            return retried
        }
    }

    package func snooze(_ id: Int64, until time: Date) async throws(StoreError) -> JobState {
        try await acceptAll(through: id)
        return try await commit { db in
            guard let task = try TaskRow.find(id, db) else { return try Self.endedState(of: id, db) }
            guard task.waits else { return task.state }
            var snoozed = task
            (snoozed.state, snoozed.due) = (.scheduled, time.milliseconds)
            try snoozed.update(db)
            db.move(snoozed, from: task.state, to: .scheduled)
            try db.flush()
            return task.state
        }
    }

    /// Accepts all rows up to an id, because a job can be changed only once it is accepted.
    func acceptAll(through id: Int64) async throws(StoreError) {
        while try await read({ db in try Self.acceptedThrough(db) < id && Self.hasArrivals(db) }) {
            try await acceptArrivals()
        }
    }

    static func cancel(_ id: Int64, _ db: SQLiteTransaction) throws -> JobState {
        guard let task = try TaskRow.find(id, db) else { return try endedState(of: id, db) }
        if task.state == .running, try !close(task, as: .cancelled, db) { return task.state }
        let failure = try previousFailure(of: task, db)
        try end(task, from: task.state, End(state: .cancelled, failure: failure), db)
        return task.state
    }

    static func retry(_ id: Int64, _ db: SQLiteTransaction) throws -> RetriedJob {
        if var task = try TaskRow.find(id, db) {
            let before = task.state
            guard before != .available, before != .running else {
                return RetriedJob(before: before, settlement: .asAsked)
            }
            (task.state, task.due, task.attempt, task.crashCount, task.failed) = (.available, db.now, 0, 0, nil)
            let duplicate = try letWait(task, from: before, db)
            return RetriedJob(before: before, settlement: Settlement(duplicate))
        }
        let before = try endedState(of: id, db)
        // A refused request would be refused again, unless this version accepts more than the one that refused it.
        guard let task = try newTask(ofEnded: id, db) else {
            return RetriedJob(before: before, settlement: .asAsked)
        }
        let remove = try db.cachedStatement(sql: "DELETE FROM outcome WHERE id = ?")
        try remove.execute(arguments: [id])
        db.forget(before, in: task.queue)
        let duplicate = try letWait(task, from: nil, db)
        return RetriedJob(before: before, settlement: Settlement(duplicate))
    }

    /// The task for a manual retry of an ended job; nil if its request is invalid.
    private static func newTask(
        ofEnded id: Int64,
        _ db: SQLiteTransaction
    ) throws -> TaskRow? {
        let look = try db.cachedStatement(
            sql: """
                SELECT CAST(request AS BLOB), unique_key, outcome.priority, accepted.id IS NULL, outcome.queue, accepted.key,
                  (SELECT max(number) FROM attempt WHERE job_id = job.id) AS tries, outcome.attempted_at,
                  EXISTS (SELECT 1 FROM job_hook WHERE job_id = job.id)
                FROM job JOIN outcome ON outcome.id = job.id LEFT JOIN accepted ON accepted.id = job.id WHERE job.id = ?
                """
        )
        guard let row = try Row.fetchOne(look, arguments: [id]),
            case .success(let new) = parse(row[0])
        else { return nil }
        if row[3] {
            guard try hasUpload(new, id, db) else { return nil }
            var task = try newTask(new, as: id, createdAt: db.now, db)
            // The counters include the job in the queue in which it was refused.
            guard task.queue == row[4] else { return nil }
            try record(new, of: task, db)
            (task.state, task.due) = (.available, db.now)
            return task
        }
        let (queue, key) = (row[4] as Int64, row[5] as Int64)
        var task = TaskRow(
            id: id,
            queue: queue,
            key: key,
            lane: try db.lane(queue: queue, key: key),
            state: .available,
            priority: row[2],
            due: db.now,
            maxAttempts: new.request.maxAttempts,
            refresh: new.request.refresh,
            uniqueKey: row[1],
            upload: new.upload,
            isHooked: row[8]
        )
        task.tries = row[6] ?? 0
        task.attemptedAt = row[7]
        return task
    }

    private static func endedState(of id: Int64, _ db: SQLiteTransaction) throws -> JobState {
        let look = try db.cachedStatement(sql: "SELECT state FROM outcome WHERE id = ?")
        guard let code = try Int.fetchOne(look, arguments: [id]) else { throw StoreError.noSuchJob(id) }
        return try JobState(code: code)
    }
}
