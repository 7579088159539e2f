internal import CLinux
internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import CameoSystem
internal import Foundation
internal import Synchronization

/// The workers of a store: their rows, their locks, and which of them are lost.
extension SQLiteStore {
    package func register(_ worker: WorkerDescription) async throws(StoreError) {
        files.removeUnfinished(olderThan: clock.now().addingTimeInterval(-3_600))
        guard let path = directory.workerLock(worker.id) else {
            throw .refused(reason: "\"\(worker.id)\" is not a valid worker id: 1 to 64 of A-Z a-z 0-9 _ - .")
        }
        // Before any row refers to the file.
        let lock = try mapping { try FileLock(path, flags: O_RDWR | O_CREAT | O_EXCL) }
        let registration = (worker: worker, startedAt: clock.now().milliseconds, lock: lock)
        try await extendLease(registration, WorkerProgress())
        registrations.withLock { $0[worker.id] = registration }
    }

    package func extendLease(of worker: String, adding counted: StoreCounters, _ progress: WorkerProgress)
        async throws(StoreError)
    {
        try await extendLease(try registration(of: worker), progress)
        // Apart from the lease, which nothing else may spoil.
        if !counted.isEmpty { try await commit(.begun) { db in db.add(counted) } }
    }

    package func deregister(_ worker: String, adding counted: StoreCounters) async throws(StoreError) {
        _ = try registration(of: worker)
        try await commit(.begun) { db in
            try db.deregister(worker)
            db.add(counted)
        }
        directory.removeLock(of: worker)
        registrations.withLock { $0[worker] = nil }
    }

    private func registration(of worker: String) throws(StoreError) -> WorkerRegistration {
        guard let registration = registrations.withLock({ $0[worker] }) else { throw .noSuch(.worker, worker) }
        return registration
    }

    private func extendLease(_ registration: WorkerRegistration, _ progress: WorkerProgress) async throws(StoreError) {
        let (worker, startedAt) = (registration.worker, registration.startedAt)
        let lease = clock.uptime() + Lease.milliseconds
        try await commit(.begun) { db in
            let row = try worker.row(progress, leaseUntil: lease, startedAt: startedAt, now: db.now)
            let insertion = (row.columns + ["boot_id"]).insertion(into: "worker")
            // Reinserts the row if another process took the worker for dead: without a row it would never be rescued.
            try db.execute(
                "\(insertion) ON CONFLICT(id) DO UPDATE SET \(row.changing.replacement)",
                row.values + [BootIdentity.current]
            )
            for lack in worker.lacks { try db.add(lack, of: worker.id) }
        }
    }

    package func rescueExpired(except own: String?) async throws(StoreError) -> RescueReport {
        let candidates = try await read { db in try Self.lostWorkers(except: own, db) }
        guard !candidates.isEmpty else { return RescueReport() }
        let report = try await commit(.begun) { db in
            var report = RescueReport()
            for candidate in candidates {
                // Before the lock was taken, the worker may have come back to life or been rescued by another process.
                if let lost = try db.lostWorker(candidate.id) {
                    try db.rescueJobs(of: lost.id, isDead: !lost.isRunning, into: &report)
                }
            }
            return report
        }
        for candidate in candidates where !candidate.isRunning { directory.removeLock(of: candidate.id) }
        return report
    }

    static func lostWorkers(except own: String?, _ db: SQLiteTransaction) throws -> [LostWorker] {
        // A worker with running jobs but without a row should not exist, but its jobs must be rescued too.
        let ids = """
            SELECT id FROM worker
            UNION SELECT worker FROM task INDEXED BY task_running WHERE \(TaskRow.isRunning)
            ORDER BY 1
            """
        return try (db.column(ids) as [String]).filter { $0 != own }
            .compactMap { try db.lostWorker($0) }
    }

    package func sweep(for worker: String) async throws(StoreError) -> WorkerSweep {
        let directory = directory
        let sweep = try await read { db in
            WorkerSweep(
                stop: try db.stopRequest(for: worker),
                refusal: try Schema.refusal(by: db.connection, at: directory.path),
                claims: try db.claims(of: worker),
                due: try Self.nextDueTime(db).map(Date.init(milliseconds:)),
                hasLostWorkers: try !Self.lostWorkers(except: worker, db).isEmpty,
                hasUploads: try db.value("SELECT \(db.dialect.hasUnreadUploads)") ?? false
            )
        }
        // The claims run into the same trouble with the store, and report it.
        if sweep.refusal == nil, isInPlace { try? await acceptBesideWork() }
        return sweep
    }
}

/// A worker whose jobs must be rescued, and whether its process is alive but its lease has expired: it may continue, but its
/// claims are gone.
typealias LostWorker = (id: String, isRunning: Bool)

extension SQLiteTransaction {
    /// Finds a lost worker; nil if it is healthy or no longer registered.
    func lostWorker(_ id: String) throws -> LostWorker? {
        let row = try row(
            """
            SELECT lease_until, boot_id, EXISTS (
              SELECT 1 FROM task INDEXED BY task_running WHERE \(TaskRow.isRunning) AND worker = worker.id)
              OR EXISTS (SELECT 1 FROM delivery INDEXED BY delivery_worker WHERE delivery.worker = worker.id)
              OR EXISTS (SELECT 1 FROM batch_seal INDEXED BY batch_seal_worker WHERE batch_seal.worker = worker.id) AS busy
            FROM worker WHERE id = ?1
            """,
            [id]
        )
        if try !directory.isAlive(id) {
            let hasJobs = try !claims(of: id).isEmpty
            return row == nil && !hasJobs ? nil : (id: id, isRunning: false)
        }
        guard let row else { return nil }
        let isSilent =
            try row["boot_id"] == BootIdentity.current && row["lease_until"] < clock.uptime() && row["busy"]
        return isSilent ? (id: id, isRunning: true) : nil
    }
}

/// A worker's registration: its row, and the lock on `workers/<id>.lock` that the kernel releases however the process
/// dies (invariant I7).
typealias WorkerRegistration = (worker: WorkerDescription, startedAt: Int64, lock: FileLock)

extension StoreDirectory {
    /// Whether a process holds the lock of a worker, checked without taking it; false for an invalid id.
    ///
    /// - Throws: `Errno` if that cannot be determined, for example without a free descriptor; unknown does not mean
    ///   dead.
    func isAlive(_ worker: String) throws(Errno) -> Bool {
        guard let path = workerLock(worker), let file = try OpenFile.existing(path, O_RDONLY) else { return false }
        let answer = cameo_ofd_is_locked(file.descriptor)
        guard answer >= 0 else { throw Errno() }
        return answer == 1
    }

    fileprivate func removeLock(of worker: String) {
        if let path = workerLock(worker) { unlink(path) }
    }
}

/// The identity of this boot. Leases from another boot have expired.
enum BootIdentity {
    static let current: String =
        (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
        .trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"
}
