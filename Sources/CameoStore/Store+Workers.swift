package import CameoModel
internal import Foundation
internal import GRDB

/// What a rescue found.
package struct RescueReport: Hashable, Sendable {
    /// Jobs that wait again.
    package var rescued = 0
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
    /// How long a worker may be silent before its jobs are given to others, in milliseconds. A dead process is seen at
    /// once by its lock; this is for one that hangs.
    package static let leaseMilliseconds: Int64 = 30_000

    /// Enters a worker. Its lease must be extended well within ``leaseMilliseconds``.
    package func register(
        id: String,
        host: String,
        pid: Int,
        version: String,
        concurrency: Int
    ) async throws(StoreError) -> WorkerRegistration {
        let registration: WorkerRegistration
        do {
            registration = try WorkerRegistration(id: id, in: directory)
        } catch {
            throw StoreError(error, path: directory.path)
        }
        let (now, lease) = (nowMilliseconds, clock.uptime() + Self.leaseMilliseconds)
        try await commit { db in
            try db.execute(
                sql: """
                    INSERT INTO worker(id, host, pid, version, concurrency, started_at, boot_id, lease_until)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [id, host, pid, version, concurrency, now, BootIdentity.current, lease]
            )
        }
        return registration
    }

    /// Tells that the worker is well.
    ///
    /// - Returns: the claim tokens that are still its own; what it runs beyond them was cancelled or given away.
    package func extendLease(_ registration: WorkerRegistration) async throws(StoreError) -> Set<String> {
        let lease = clock.uptime() + Self.leaseMilliseconds
        return try await commit { db in
            try db.execute(sql: "UPDATE worker SET lease_until = ? WHERE id = ?", arguments: [lease, registration.id])
            return try Self.claimTokens(of: registration.id, db)
        }
    }

    /// The claim tokens that are the worker's own.
    package func claimTokens(of registration: WorkerRegistration) async throws(StoreError) -> Set<String> {
        try await read { db in try Self.claimTokens(of: registration.id, db) }
    }

    /// Leaves the store. The worker must have settled or released all its jobs.
    package func deregister(_ registration: WorkerRegistration) async throws(StoreError) {
        try await commit { db in
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
            try String.fetchAll(db.cachedStatement(sql: "SELECT id FROM worker"))
                .filter { $0 != own }
                .compactMap { try LostWorker.find($0, in: db, directory: directory, uptime: uptime) }
        }
    }

    private static func claimTokens(of worker: String, _ db: Database) throws -> Set<String> {
        let statement = try db.cachedStatement(
            sql: "SELECT claim_token FROM job WHERE state = 'running' AND worker = ?"
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
        try db.execute(
            sql: """
                UPDATE attempt SET outcome = 'interrupted', finished_at = ?
                WHERE claim_token IN (SELECT claim_token FROM job WHERE state = 'running' AND worker = ?)
                """,
            arguments: [now, lost.id]
        )
        let discarded = try Row.fetchAll(
            db,
            sql: """
                UPDATE job SET state = 'discarded', finalized_at = ?, failure = ?, crash_count = crash_count + 1,
                  claim_token = NULL, worker = NULL
                WHERE state = 'running' AND worker = ? AND crash_count + 1 >= ?
                RETURNING id, json_extract(request, '$.source') AS source, queue, attempt
                """,
            arguments: [now, try failure.stored, lost.id, ClaimKind.discardAfterCrashes]
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
        try db.execute(
            sql: """
                UPDATE job SET state = 'available', attempt = attempt - 1, crash_count = crash_count + 1,
                  claim_token = NULL, worker = NULL
                WHERE state = 'running' AND worker = ?
                """,
            arguments: [lost.id]
        )
        report.rescued += db.changesCount
        if !lost.isRunning {
            try db.execute(sql: "DELETE FROM worker WHERE id = ?", arguments: [lost.id])
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
                SELECT lease_until, boot_id, EXISTS (SELECT 1 FROM job WHERE state = 'running' AND worker = worker.id) AS busy
                FROM worker WHERE id = ?
                """
        )
        guard let row = try Row.fetchOne(statement, arguments: [id]) else { return nil }
        if !WorkerRegistration.isAlive(id, in: directory) { return LostWorker(id: id, isRunning: false) }
        let isCurrent = (row["boot_id"] as String) == BootIdentity.current
        let isSilent = isCurrent && (row["lease_until"] as Int64) < uptime && (row["busy"] as Bool)
        return isSilent ? LostWorker(id: id, isRunning: true) : nil
    }
}
