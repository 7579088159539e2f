internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

/// A worker whose jobs must be rescued.
struct LostWorker: Sendable {
    let id: String
    /// Whether it has been silent for so long that it counts as dead.
    let isDead: Bool
    /// The jobs that were taken from it when its lease ended.
    let suspects: [Int64]
}

extension PostgreSQLTransaction {
    /// - Returns: false if there is a live worker of this id and `mayExist` is false; then nothing was written.
    func extendLease(of worker: WorkerDescription, _ transfers: [RunningTransfer], mayExist: Bool) throws -> Bool {
        let list = try transfers.isEmpty ? nil : String(decoding: WireFormat.encode(transfers), as: UTF8.self)
        let count = try execute(
            """
            INSERT INTO worker AS known(id, host, pid, version, concurrency, renderers, renderer_version, quiet_hours,
              started_at, lease_until, transfers, queues)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $13::text[])
            ON CONFLICT (id) DO UPDATE
              SET lease_until = excluded.lease_until, transfers = excluded.transfers, suspects = '{}'
              WHERE $12::boolean
            """,
            [
                worker.id, worker.host, worker.pid, worker.version, worker.concurrency, worker.renderers,
                worker.rendererVersion, worker.quietHours?.description, now, now + Lease.betweenMachines, list,
                mayExist, worker.queues.map { SQLArray($0) },
            ]
        )
        for lack in worker.lacks where count == 1 { try add(lack, of: worker.id) }
        return count == 1
    }

    /// The workers that are silent beyond their lease and have something to be released, and those that count as dead. In
    /// a commit their rows are locked, except those that another transaction has.
    func lostWorkers(except own: String?) throws -> [LostWorker] {
        // While the server was away, nobody could extend a lease: all have as long as one lasts from its start.
        let end = """
            greatest(lease_until, $4 + floor(extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint)
            """
        let lost = try query(
            """
            SELECT id, \(end) < $3, array_to_string(suspects, ',') FROM worker
            WHERE \(end) < $1 AND id IS DISTINCT FROM $2 AND (\(end) < $3
              OR EXISTS (SELECT 1 FROM task WHERE task.state = 2 AND task.worker = worker.id)
              OR EXISTS (SELECT 1 FROM delivery WHERE delivery.worker = worker.id))
            ORDER BY id \(isWriting ? "FOR UPDATE SKIP LOCKED" : "")
            """,
            [now, own, now - Lease.betweenMachines, Lease.betweenMachines]
        )
        .map { row in
            let suspects: String = try row[2]
            return LostWorker(
                id: try row[0],
                isDead: try row[1],
                suspects: suspects.split(separator: ",").compactMap { Int64($0) }
            )
        }
        // A worker with running jobs but without a row should not exist, but its jobs must be rescued too.
        let unknown: [String] = try column(
            """
            SELECT DISTINCT worker FROM task
            WHERE state = 2 AND worker IS DISTINCT FROM $1 AND NOT EXISTS (
              SELECT 1 FROM worker WHERE worker.id = task.worker)
            ORDER BY worker
            """,
            [own]
        )
        return lost + unknown.map { LostWorker(id: $0, isDead: true, suspects: []) }
    }

    func rescueJobs(of lost: LostWorker, into report: inout RescueReport) throws {
        report.workers.append(lost.id)
        let running = try runningTasks(of: lost.id)
        for task in running { try rescue(task, deaths: lost.isDead ? 1 : 0, into: &report) }
        try JobHooks.release(claimsOf: lost.id, self)
        guard lost.isDead else {
            try execute(
                "UPDATE worker SET suspects = suspects || $1::bigint[] WHERE id = $2",
                [SQLArray(running.map(\.id)), lost.id]
            )
            return
        }
        try blame(lost.suspects, into: &report)
        try execute("DELETE FROM worker WHERE id = $1", [lost.id])
    }

    /// Adds a death to jobs that were released when it was not known yet. Jobs that have ended since are left alone.
    private func blame(_ suspects: [Int64], into report: inout RescueReport) throws {
        guard !suspects.isEmpty else { return }
        for var task in try tasks("WHERE id = ANY($1::bigint[]) ORDER BY id", [SQLArray(suspects)]) {
            task.crashCount += 1
            if task.state != .running, task.crashCount >= ClaimKind.discardAfterCrashes {
                try discardLost(task, into: &report)
            } else {
                try update(task)
                // As a poison job it is claimed in another way.
                ledger.wakesWorkers = true
            }
        }
    }
}
