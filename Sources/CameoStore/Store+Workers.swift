package import CameoModel
internal import Foundation
internal import GRDB

/// What a rescue found.
package struct RescueReport: Hashable, Sendable {
    /// Jobs that wait again.
    package var rescued = 0
    /// Jobs that are cancelled: others were waiting for the same thumbnails already.
    package var superseded = 0
    /// Jobs given up as `worker.lost`, after too many deaths.
    package var discarded: [LostJob] = []
    /// Ids of the workers that were dead or silent.
    package var workers: [String] = []
}

/// A job that was given up because its workers died.
package struct LostJob: Hashable, Sendable {
    package let id: Int64
    package let source: String?
    package let queue: String
    package let attempt: Int
    package let failure: JobFailure
}

extension Store {
    /// Enters a worker. Its lease must be extended well within ``leaseMilliseconds``.
    package func register(
        id: String,
        host: String,
        pid: Int,
        version: String,
        concurrency: Int
    ) async throws(StoreError) -> WorkerRegistration {
        let row = WorkerRow(
            id: id,
            host: host,
            pid: pid,
            version: version,
            concurrency: concurrency,
            startedAt: nowMilliseconds
        )
        do {
            files.removeUnfinished(olderThan: clock.now().addingTimeInterval(-3_600))
            let registration = try WorkerRegistration(row, in: directory)
            try await extendLease(registration)
            return registration
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }

    /// Tells that the worker is well.
    package func extendLease(_ registration: WorkerRegistration) async throws(StoreError) {
        let (row, lease) = (registration.row, clock.uptime() + Self.leaseMilliseconds)
        try await commit(.begun) { db in
            // Inserts it again should another have taken it for dead: a worker without a row would never be rescued.
            try db.execute(
                sql: """
                    INSERT INTO worker(id, host, pid, version, concurrency, started_at, boot_id, lease_until)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET lease_until = excluded.lease_until
                    """,
                arguments: [
                    row.id, row.host, row.pid, row.version, row.concurrency, row.startedAt, BootIdentity.current, lease,
                ]
            )
        }
    }

    /// The claim tokens that are still the worker's own; what it runs beyond them was cancelled or given away.
    package func claimTokens(of registration: WorkerRegistration) async throws(StoreError) -> Set<String> {
        try await read { db in try Self.claimTokens(of: registration.id, db) }
    }

    /// Leaves the store. Jobs whose end the store refused to record are given back uncharged, to be run again.
    package func deregister(_ registration: WorkerRegistration) async throws(StoreError) {
        let now = nowMilliseconds
        try await commit(.begun) { db in
            try Self.giveBackUnharmed(from: registration.id, now: now, db)
            try db.execute(sql: "DELETE FROM worker WHERE id = ?", arguments: [registration.id])
        }
        registration.removeFile()
    }

    /// Takes back the jobs of workers that died (their lock is free), or fell silent (their lease ran out), except of
    /// `own`. The attempt is not charged; the death is counted, and after ``ClaimKind/discardAfterCrashes`` the job is
    /// discarded as `worker.lost`.
    package func rescueExpired(except own: String?) async throws(StoreError) -> RescueReport {
        let uptime = clock.uptime()
        let suspects = try await lostWorkers(except: own, uptime: uptime)
        guard !suspects.isEmpty else { return RescueReport() }
        let (now, directory) = (nowMilliseconds, directory)
        let failure = JobFailure(
            .workerLost,
            at: .worker,
            "the worker died while it ran this job, for the \(ClaimKind.discardAfterCrashes)th time"
        )
        let report = try await commit { db in
            var report = RescueReport()
            for suspect in suspects {
                // Between the look and the lock the worker may have come back to life or been rescued by another.
                guard let lost = try LostWorker.find(suspect.id, in: db, directory: directory, uptime: uptime) else {
                    continue
                }
                try Self.takeBack(from: lost, failure: failure, now: now, into: &report, db)
            }
            return report
        }
        for suspect in suspects where !suspect.isRunning { unlink(directory.workerLock(suspect.id)) }
        return report
    }

    private func lostWorkers(except own: String?, uptime: Int64) async throws(StoreError) -> [LostWorker] {
        let directory = directory
        return try await read { db in
            // A worker without a row, but with running jobs, should not be; its jobs are not to suffer for it.
            let ids = """
                SELECT id FROM worker
                UNION SELECT worker FROM job INDEXED BY job_running WHERE state = 'running'
                ORDER BY 1
                """
            return try String.fetchAll(db.cachedStatement(sql: ids))
                .filter { $0 != own }
                .compactMap { try LostWorker.find($0, in: db, directory: directory, uptime: uptime) }
        }
    }

    fileprivate static func claimTokens(of worker: String, _ db: Database) throws -> Set<String> {
        let statement = try db.cachedStatement(
            sql: "SELECT claim_token FROM job INDEXED BY job_running WHERE state = 'running' AND worker = ?"
        )
        return try String.fetchSet(statement, arguments: [worker])
    }

    private static func takeBack(
        from lost: LostWorker,
        failure: JobFailure,
        now: Int64,
        into report: inout RescueReport,
        _ db: Database
    ) throws {
        report.workers.append(lost.id)
        try closeAttempts(of: lost.id, as: .interrupted, now: now, db)
        // A worker that fell silent may be frozen with the machine's sleep or a debugger: its jobs are not to blame.
        let deaths = lost.isRunning ? 0 : 1
        let discarded = try Row.fetchAll(
            db,
            sql: """
                UPDATE job SET state = 'discarded', finalized_at = ?, failure = ?, crash_count = crash_count + 1,
                  claim_token = NULL, worker = NULL
                WHERE state = 'running' AND worker = ? AND crash_count + ? >= ?
                RETURNING id, json_extract(request, '$.source') AS source, queue, attempt
                """,
            arguments: [now, try failure.stored, lost.id, deaths, ClaimKind.discardAfterCrashes]
        )
        report.discarded += discarded.map { row in
            LostJob(
                id: row["id"],
                source: row["source"],
                queue: row["queue"],
                attempt: row["attempt"],
                failure: failure
            )
        }
        for settlement in try giveBack(from: lost.id, deaths: deaths, now: now, db) {
            if settlement == .asAsked { report.rescued += 1 } else { report.superseded += 1 }
        }
        if !lost.isRunning {
            try db.execute(sql: "DELETE FROM worker WHERE id = ?", arguments: [lost.id])
        }
    }
}

extension Store {
    /// Makes a worker's running jobs available again as if they had not been claimed.
    static func giveBackUnharmed(from worker: String, now: Int64, _ db: Database) throws {
        try closeAttempts(of: worker, as: .released, now: now, db)
        _ = try giveBack(from: worker, deaths: 0, now: now, db)
    }

    private static func closeAttempts(
        of worker: String,
        as outcome: JobAttempt.Outcome,
        now: Int64,
        _ db: Database
    ) throws {
        try db.execute(
            sql: """
                UPDATE attempt SET outcome = ?, finished_at = ? WHERE claim_token IN (
                  SELECT claim_token FROM job INDEXED BY job_running WHERE state = 'running' AND worker = ?)
                """,
            arguments: [outcome.rawValue, now, worker]
        )
    }

    /// Makes a worker's running jobs available again, uncharged; one by one, since two of them may be twins.
    private static func giveBack(from worker: String, deaths: Int, now: Int64, _ db: Database) throws -> [Settlement] {
        let running = try db.cachedStatement(
            sql: "SELECT id FROM job INDEXED BY job_running WHERE state = 'running' AND worker = ? ORDER BY id"
        )
        let giveBack = try db.cachedStatement(
            sql: """
                UPDATE job SET state = 'available', attempt = attempt - 1, crash_count = crash_count + ?,
                  claim_token = NULL, worker = NULL
                WHERE id = ?
                """
        )
        return try Int64.fetchAll(running, arguments: [worker]).map { id in
            try giveBack.execute(arguments: [deaths, id])
            return try Settlement(of: id, now: now, db)
        }
    }
}

/// A worker whose jobs are to be taken back.
private struct LostWorker: Sendable {
    let id: String
    /// True when its process lives but its lease ran out: it may wake and go on, with no claim left.
    let isRunning: Bool

    /// Nil if the worker is well, or gone.
    static func find(
        _ id: String,
        in db: Database,
        directory: StoreDirectory,
        uptime: Int64
    ) throws -> LostWorker? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT lease_until, boot_id, EXISTS (SELECT 1 FROM job INDEXED BY job_running WHERE state = 'running' AND worker = worker.id) AS busy
                FROM worker WHERE id = ?
                """
        )
        let row = try Row.fetchOne(statement, arguments: [id])
        if try !WorkerRegistration.isAlive(id, in: directory) {
            let hasJobs = try !Store.claimTokens(of: id, db).isEmpty
            return row == nil && !hasJobs ? nil : LostWorker(id: id, isRunning: false)
        }
        guard let row else { return nil }
        let isCurrent = (row["boot_id"] as String) == BootIdentity.current
        let isSilent = isCurrent && (row["lease_until"] as Int64) < uptime && (row["busy"] as Bool)
        return isSilent ? LostWorker(id: id, isRunning: true) : nil
    }
}
