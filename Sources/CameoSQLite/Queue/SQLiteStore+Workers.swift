package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    package func register(
        id: String,
        host: String,
        pid: Int,
        version: String,
        concurrency: Int,
        renderers: Int = 0,
        rendererVersion: String? = nil,
        quietHours: String? = nil,
        queues: [String]? = nil,
        lacks: [HostLack] = []
    ) async throws(StoreError) -> WorkerRegistration {
        let row = WorkerRow(
            id: id,
            host: host,
            pid: pid,
            version: version,
            concurrency: concurrency,
            renderers: renderers,
            rendererVersion: rendererVersion,
            quietHours: quietHours,
            queues: queues.map { JSONValue.array($0.map(JSONValue.string)).canonicalText },
            lacks: lacks,
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

    package func extendLease(
        _ registration: WorkerRegistration,
        adding counted: StoreCounters = StoreCounters(),
        transfers: [RunningTransfer] = []
    ) async throws(StoreError) {
        let (row, lease) = (registration.row, clock.uptime() + Lease.milliseconds)
        try await commit(.begun) { db in
            // Reinserts the row if another process took the worker for dead: without a row it would never be rescued.
            try db.execute(
                sql: """
                    INSERT INTO worker(id, host, pid, version, concurrency, renderers, renderer_version, quiet_hours,
                      queues, started_at, boot_id, lease_until, transfers)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT(id) DO UPDATE SET lease_until = excluded.lease_until, transfers = excluded.transfers
                    """,
                arguments: [
                    row.id, row.host, row.pid, row.version, row.concurrency, row.renderers, row.rendererVersion,
                    row.quietHours, row.queues, row.startedAt, BootIdentity.current, lease,
                    transfers.isEmpty ? nil : String(decoding: try WireFormat.encode(transfers), as: UTF8.self),
                ]
            )
            for lack in row.lacks { try db.add(lack, of: row.id) }
        }
        // Apart from the lease, which nothing else may spoil.
        if !counted.isEmpty { try await commit(.begun) { db in db.add(counted) } }
    }

    package func deregister(
        _ registration: WorkerRegistration,
        adding counted: StoreCounters = StoreCounters()
    ) async throws(StoreError) {
        try await commit(.begun) { db in
            try db.release(try db.runningTasks(of: registration.id), as: .released)
            try JobHooks.release(claimsOf: registration.id, db)
            try db.execute(sql: "DELETE FROM worker WHERE id = ?", arguments: [registration.id])
            db.add(counted)
        }
        registration.removeFile()
    }

    package func rescueExpired(except own: String?) async throws(StoreError) -> RescueReport {
        let uptime = clock.uptime()
        let directory = directory
        let candidates = try await read { db in
            try Self.lostWorkers(except: own, directory, uptime: uptime, db)
        }
        guard !candidates.isEmpty else { return RescueReport() }
        let report = try await commit(.begun) { db in
            var report = RescueReport()
            for candidate in candidates {
                // Before the lock was taken, the worker may have come back to life or been rescued by another process.
                guard let lost = try LostWorker.find(candidate.id, in: db, directory: directory, uptime: uptime) else {
                    continue
                }
                try Self.rescueJobs(of: lost, into: &report, db)
            }
            return report
        }
        for candidate in candidates where !candidate.isRunning {
            _ = directory.workerLock(candidate.id).map { unlink($0) }
        }
        return report
    }

    fileprivate static func lostWorkers(
        except own: String?,
        _ directory: StoreDirectory,
        uptime: Int64,
        _ db: SQLiteTransaction
    ) throws -> [LostWorker] {
        // A worker with running jobs but without a row should not exist, but its jobs must be rescued too.
        let ids = """
            SELECT id FROM worker
            UNION SELECT worker FROM task INDEXED BY task_running WHERE state = 2
            ORDER BY 1
            """
        return try String.fetchAll(db.cachedStatement(sql: ids))
            .filter { $0 != own }
            .compactMap { try LostWorker.find($0, in: db, directory: directory, uptime: uptime) }
    }

    static func hasLostWorkers(
        except own: String?,
        _ directory: StoreDirectory,
        uptime: Int64,
        _ db: SQLiteTransaction
    ) throws -> Bool {
        try !lostWorkers(except: own, directory, uptime: uptime, db).isEmpty
    }

    static func claims(of worker: String, _ db: SQLiteTransaction) throws -> Set<Claim> {
        let statement = try db.cachedStatement(
            sql: "SELECT id, token FROM task INDEXED BY task_running WHERE state = 2 AND worker = ?"
        )
        return Set(try Row.fetchAll(statement, arguments: [worker]).map { Claim(jobID: $0[0], token: $0[1]) })
    }

    private static func rescueJobs(
        of lost: LostWorker,
        into report: inout RescueReport,
        _ db: SQLiteTransaction
    ) throws {
        report.workers.append(lost.id)
        for task in try db.runningTasks(of: lost.id) {
            // A silent worker may be frozen by suspend or a debugger; its jobs are not to blame.
            try db.rescue(task, deaths: lost.isRunning ? 0 : 1, into: &report)
        }
        try JobHooks.release(claimsOf: lost.id, db)
        if !lost.isRunning { try db.execute("DELETE FROM worker WHERE id = ?1", [lost.id]) }
    }
}

/// A worker whose jobs must be rescued.
private struct LostWorker: Sendable {
    let id: String
    /// Whether the process is alive but its lease has expired: it may continue, but its claims are gone.
    let isRunning: Bool

    /// Finds a lost worker; nil if it is healthy or no longer registered.
    static func find(
        _ id: String,
        in db: SQLiteTransaction,
        directory: StoreDirectory,
        uptime: Int64
    ) throws -> LostWorker? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT lease_until, boot_id, EXISTS (
                  SELECT 1 FROM task INDEXED BY task_running WHERE state = 2 AND worker = worker.id)
                  OR EXISTS (SELECT 1 FROM delivery INDEXED BY delivery_worker WHERE delivery.worker = worker.id) AS busy
                FROM worker WHERE id = ?
                """
        )
        let row = try Row.fetchOne(statement, arguments: [id])
        if try !WorkerRegistration.isAlive(id, in: directory) {
            let hasJobs = try !SQLiteStore.claims(of: id, db).isEmpty
            return row == nil && !hasJobs ? nil : LostWorker(id: id, isRunning: false)
        }
        guard let row else { return nil }
        let isCurrent = (row["boot_id"] as String) == BootIdentity.current
        let isSilent = isCurrent && (row["lease_until"] as Int64) < uptime && (row["busy"] as Bool)
        return isSilent ? LostWorker(id: id, isRunning: true) : nil
    }
}
