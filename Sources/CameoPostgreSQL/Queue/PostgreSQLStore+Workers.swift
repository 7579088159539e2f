internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. A worker is alive while its lease lasts, by the server's clock. Whether one that is silent beyond it has died,
// or was cut off or frozen, nobody can know. So its jobs are released at once and not blamed: a broken network must not
// make poison of all pictures that were on the way. If it stays silent for as long again, it counts as dead: its row is
// removed, and those jobs are to blame for one death each, or a picture that kills workers would do so for ever. A worker
// that comes back in between keeps its name; one that comes back later is registered again by its next lease.
extension PostgreSQLStore {
    package func register(_ worker: WorkerDescription) async throws(StoreError) {
        guard WorkerDescription.isID(worker.id) else {
            throw .refused(reason: "\"\(worker.id)\" is not a valid worker id: 1 to 64 of A-Z a-z 0-9 _ - .")
        }
        try await commit(.claim) { db in
            guard try db.extendLease(of: worker, WorkerProgress(), mayExist: false) else {
                throw StoreError.refused(reason: "there is another worker \(worker.id)")
            }
        }
        registrations.withLock { $0[worker.id] = worker }
    }

    package func extendLease(of worker: String, adding counted: StoreCounters, _ progress: WorkerProgress)
        async throws(StoreError)
    {
        let description = try registration(of: worker)
        try await commit(.begun) { db in
            // Inserts the row if others took the worker for dead: without a row it would never be rescued.
            _ = try db.extendLease(of: description, progress, mayExist: true)
        }
        // Apart from the lease, which nothing else may spoil.
        try await commit(.begun) { db in try db.foldCounts() }
        if !counted.isEmpty { try await commit(.begun) { db in db.add(counted) } }
    }

    package func deregister(_ worker: String, adding counted: StoreCounters) async throws(StoreError) {
        _ = try registration(of: worker)
        try await commit(.begun) { db in
            try db.deregister(worker)
            db.add(counted)
        }
        registrations.withLock { $0[worker] = nil }
    }

    private func registration(of worker: String) throws(StoreError) -> WorkerDescription {
        guard let registration = registrations.withLock({ $0[worker] }) else { throw .noSuch(.worker, worker) }
        return registration
    }

    package func sweep(for worker: String) async throws(StoreError) -> WorkerSweep {
        let look = Connection.Statement(Self.sweep, [worker, clock.now().milliseconds], prepared: true)
        return try await reads.look(look) { [self] rows, opening in
            let row = rows[0]
            let (stop, claims, due): (String?, String, Int64?) = try (row["stop"], row["claims"], row["due"])
            if try row["has_changes"] { numberChangesSoon() }
            return WorkerSweep(
                stop: stop.flatMap(WorkerStop.init(stored:)),
                refusal: Schema.refusal(of: opening.version, url),
                claims: Set(claims.split(separator: ",").compactMap(Self.claim)),
                due: due.map(Date.init(milliseconds:)),
                hasLostWorkers: try row["has_lost"],
                hasUploads: try row["has_uploads"]
            )
        }
    }

    // DESIGN. Four times a second from each worker: one statement, because each wakes the process of the server.
    static let sweep = PostgreSQLTransaction.numbered(
        """
        SELECT (\(PostgreSQLTransaction.dialect.stopOfWorker)) AS stop,
          array_to_string(ARRAY(SELECT id || ' ' || token FROM (\(PostgreSQLTransaction.dialect.claimsOfWorker)) AS held), ',') AS claims,
          next_due() AS due, \(PostgreSQLTransaction.dialect.hasUnreadUploads) AS has_uploads,
          EXISTS (\(PostgreSQLTransaction.silentWorkers)) OR EXISTS (\(PostgreSQLTransaction.strays)) AS has_lost,
          \(ChangeNumbers.areThere(enteredBy: "$2::bigint - \(ChangeNumbers.rest)")) AS has_changes
        """
    )

    private static func claim(_ text: Substring) -> Claim? {
        let parts = text.split(separator: " ", maxSplits: 1)
        return parts.count == 2 ? Int64(parts[0]).map { Claim(jobID: $0, token: String(parts[1])) } : nil
    }

    package func rescueExpired(except own: String?) async throws(StoreError) -> RescueReport {
        let candidates = try await read { db in try db.lostWorkers(except: own) }
        guard !candidates.isEmpty else { return RescueReport() }
        return try await commit(.begun) { db in
            var report = RescueReport()
            // Written while the server's clock was ahead. It ends when one would that begins now.
            try db.execute(PostgreSQLTransaction.shorteningOfLeases, [own, db.now])
            // Locked and looked at again: they may have come back, or have been rescued by another process.
            for worker in try db.lostWorkers(except: own) where candidates.contains(where: { $0.id == worker.id }) {
                try db.rescueJobs(of: worker, into: &report)
            }
            return report
        }
    }
}

/// A worker whose jobs must be rescued; whether it has been silent for so long that it counts as dead; and the jobs that were
/// taken from it when its lease ended.
typealias LostWorker = (id: String, isDead: Bool, suspects: [Int64])

extension PostgreSQLTransaction {
    /// - Returns: false if there is a live worker of this id and `mayExist` is false; then nothing was written.
    func extendLease(of worker: WorkerDescription, _ progress: WorkerProgress, mayExist: Bool) throws -> Bool {
        let row = try worker.row(progress, leaseUntil: now + Lease.betweenMachines, startedAt: now, now: now)
        let renewal = mayExist ? "UPDATE SET \(row.changing.replacement), suspects = '{}'" : "NOTHING"
        let insertion = row.columns.insertion(into: "worker")
        let count = try execute("\(insertion) ON CONFLICT (id) DO \(renewal)", row.values)
        for lack in worker.lacks where count == 1 { try add(lack, of: worker.id) }
        return count == 1
    }

    /// The workers that are silent beyond their lease and have something to be released, and those that count as dead. In
    /// a commit their rows are locked, except those that another transaction has.
    func lostWorkers(except own: String?) throws -> [LostWorker] {
        let lock = opening.isWriting ? "FOR UPDATE SKIP LOCKED" : ""
        let lost = try query("\(Self.silentWorkers) \(lock)", [own, now]).map { row -> LostWorker in
            let suspects: String = try row["suspects"]
            return (try row["id"], try row["is_dead"], suspects.split(separator: ",").compactMap { Int64($0) })
        }
        return lost + (try column(Self.strays, [own]) as [String]).map { (id: $0, isDead: true, suspects: []) }
    }

    /// The condition that a lease lasts longer, at the time `$2`, than any can.
    fileprivate static let isTooLong = "lease_until > $2::bigint + \(2 * Lease.betweenMachines)"

    fileprivate static let shorteningOfLeases = """
        UPDATE worker SET lease_until = $2::bigint + \(Lease.betweenMachines) WHERE id IS DISTINCT FROM $1 AND \(isTooLong)
        """

    /// Those other than `$1` at the time `$2`.
    fileprivate static let silentWorkers = {
        let lease = Lease.betweenMachines
        // While the server was away, nobody could extend a lease: all have as long as one lasts from its start, unless the
        // clock that told it was ahead.
        let start = "floor(extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint"
        let end = "greatest(lease_until, \(lease) + CASE WHEN \(start) <= $2::bigint THEN \(start) ELSE 0 END)"
        let isDead = "\(end) < $2::bigint - \(lease)"
        return """
            SELECT id, \(isDead) AS is_dead, array_to_string(suspects, ',') AS suspects FROM worker
            WHERE id IS DISTINCT FROM $1 AND (\(isTooLong) OR \(end) < $2::bigint AND (\(isDead)
              OR EXISTS (SELECT 1 FROM task WHERE task.\(TaskRow.isRunning) AND task.worker = worker.id)
              OR EXISTS (SELECT 1 FROM delivery WHERE delivery.worker = worker.id)
              OR EXISTS (SELECT 1 FROM batch_seal WHERE batch_seal.worker = worker.id)))
            ORDER BY id
            """
    }()

    /// Workers other than `$1` with running jobs but without a row. There should be none, but their jobs must be rescued too.
    fileprivate static let strays = """
        SELECT DISTINCT worker FROM task
        WHERE \(TaskRow.isRunning) AND worker IS DISTINCT FROM $1 AND NOT EXISTS (
          SELECT 1 FROM worker WHERE worker.id = task.worker)
        ORDER BY worker
        """

    func rescueJobs(of lost: LostWorker, into report: inout RescueReport) throws {
        let running = try rescueJobs(of: lost.id, isDead: lost.isDead, into: &report)
        guard lost.isDead else {
            try execute(
                "UPDATE worker SET suspects = suspects || $1::bigint[] WHERE id = $2",
                [SQLArray(running.map(\.id)), lost.id]
            )
            return
        }
        guard !lost.suspects.isEmpty else { return }
        // A death more for jobs that were released when it was not known yet. Those that have ended since are left alone.
        for var task in try tasks("WHERE id = ANY($1::bigint[]) ORDER BY id", [SQLArray(lost.suspects)]) {
            task.crashCount += 1
            if task.state != .running, task.crashCount >= ClaimKind.discardAfterCrashes {
                try discardLost(task, into: &report)
            } else {
                try update(task)
                // As a poison job it is claimed in another way.
                unwritten.wakesWorkers = true
            }
        }
    }
}
