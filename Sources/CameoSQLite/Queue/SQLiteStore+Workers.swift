package import CameoModel
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
                    transfers.isEmpty ? nil : try transfers.stored,
                ]
            )
            for lack in row.lacks { try Self.add(lack, of: row.id, db) }
        }
        // Apart from the lease, which nothing else may spoil.
        if !counted.isEmpty { try await commit(.begun) { db in try Self.add(counted, db) } }
    }

    package func deregister(
        _ registration: WorkerRegistration,
        adding counted: StoreCounters = StoreCounters()
    ) async throws(StoreError) {
        try await commit(.begun) { db in
            try Self.releaseJobs(of: registration.id, db)
            try Hooks.release(claimsOf: registration.id, db)
            try db.execute(sql: "DELETE FROM worker WHERE id = ?", arguments: [registration.id])
            try Self.add(counted, db)
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
        let failure = JobFailure(
            .workerLost,
            at: .worker,
            "a worker died while running this job for the \(ClaimKind.discardAfterCrashes)th time"
        )
        let report = try await commit(.begun) { db in
            var report = RescueReport()
            for candidate in candidates {
                // Before the lock was taken, the worker may have come back to life or been rescued by another process.
                guard let lost = try LostWorker.find(candidate.id, in: db, directory: directory, uptime: uptime) else {
                    continue
                }
                try Self.rescueJobs(of: lost, failure: failure, into: &report, db)
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
        failure: JobFailure,
        into report: inout RescueReport,
        _ db: SQLiteTransaction
    ) throws {
        report.workers.append(lost.id)
        // A silent worker may be frozen by suspend or a debugger; its jobs are not to blame.
        let deaths = lost.isRunning ? 0 : 1
        for task in try runningTasks(of: lost.id, db) {
            guard try close(task, as: .interrupted, db) else { continue }
            guard task.crashCount + deaths < ClaimKind.discardAfterCrashes else {
                var dead = task
                dead.crashCount += 1
                try end(dead, from: .running, End(state: .discarded, failure: failure), db)
                report.discarded.append(try LostJob(dead, failure, db))
                continue
            }
            if case .superseded = try giveBack(task, deaths: deaths, db) {
                report.superseded += 1
            } else {
                report.rescued += 1
            }
        }
        try db.flush()
        try Hooks.release(claimsOf: lost.id, db)
        if !lost.isRunning {
            try db.execute(sql: "DELETE FROM worker WHERE id = ?", arguments: [lost.id])
        }
    }

    /// The running jobs in id order, so that the first of two for the same thumbnails waits again.
    private static func runningTasks(of worker: String, _ db: SQLiteTransaction) throws -> [TaskRow] {
        try TaskRow.all("INDEXED BY task_running WHERE state = 2 AND worker = ? ORDER BY id", [worker], db)
    }

    /// Makes a worker's running jobs available again, without counting their attempts.
    static func releaseJobs(of worker: String, _ db: SQLiteTransaction) throws {
        for task in try runningTasks(of: worker, db) {
            guard try close(task, as: .released, db) else { continue }
            _ = try giveBack(task, deaths: 0, db)
        }
        try db.flush()
    }
}

extension LostJob {
    fileprivate init(_ task: TaskRow, _ failure: JobFailure, _ db: SQLiteTransaction) throws {
        let row = try Row.fetchOne(
            db.sqlite,
            sql: """
                SELECT json_extract(request, '$.source') AS source, (SELECT name FROM queue WHERE id = ?) AS queue
                FROM job WHERE id = ?
                """,
            arguments: [task.queue, task.id]
        )
        self.init(
            id: task.id,
            source: row?["source"],
            queue: row?["queue"] ?? "",
            attempt: task.attempt,
            failure: failure
        )
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
