internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. A worker is alive while its lease lasts, by the server's clock. Whether one that is silent beyond it has died,
// or was cut off or frozen, nobody can know; its jobs are needed in any case. So what its lease's end does depends on how
// long it has been silent. At once, its jobs are released and not blamed: a broken network must not make poison of all
// pictures that were on the way. If it stays silent for as long again, it counts as dead: its row is removed, and those
// jobs are to blame for one death each, or a picture that kills workers would do so for ever. A worker that comes back in
// between keeps its name; one that comes back later is registered again by its next lease.
extension PostgreSQLStore {
    package func register(_ worker: WorkerDescription) async throws(StoreError) {
        guard WorkerDescription.isID(worker.id) else {
            throw .refused(reason: "\"\(worker.id)\" is not a valid worker id: 1 to 64 of A-Z a-z 0-9 _ - .")
        }
        try await commit(.claim) { db in
            guard try db.extendLease(of: worker, [], mayExist: false) else {
                throw StoreError.refused(reason: "there is another worker \(worker.id)")
            }
        }
        registrations.withLock { $0[worker.id] = worker }
    }

    package func extendLease(of worker: String, adding counted: StoreCounters, transfers: [RunningTransfer])
        async throws(StoreError)
    {
        let description = try registration(of: worker)
        try await commit(.begun) { db in
            // Inserts the row if others took the worker for dead: without a row it would never be rescued.
            _ = try db.extendLease(of: description, transfers, mayExist: true)
        }
        // Apart from the lease, which nothing else may spoil.
        try await commit(.begun) { db in try db.foldCounts() }
        if !counted.isEmpty { try await commit(.begun) { db in db.add(counted) } }
    }

    package func deregister(_ worker: String, adding counted: StoreCounters) async throws(StoreError) {
        _ = try registration(of: worker)
        try await commit(.begun) { db in
            try db.release(try db.runningTasks(of: worker), as: .released)
            try JobHooks.release(claimsOf: worker, db)
            try db.execute("DELETE FROM worker WHERE id = $1", [worker])
            db.add(counted)
        }
        registrations.withLock { $0[worker] = nil }
    }

    private func registration(of worker: String) throws(StoreError) -> WorkerDescription {
        guard let registration = registrations.withLock({ $0[worker] }) else { throw .noSuch(.worker, worker) }
        return registration
    }

    package func sweep(for worker: String) async throws(StoreError) -> WorkerSweep {
        let (url, identity) = (url, identity)
        let (sweep, hasOldChanges) = try await read { db in
            let held = try db.query("SELECT id, token FROM task WHERE state = 2 AND worker = $1", [worker])
            let sweep = WorkerSweep(
                stop: try db.stopRequest(for: worker),
                refusal: Schema.refusal(of: db.version, url),
                claims: Set(try held.map { Claim(jobID: try $0[0], token: try $0[1]) }),
                due: try db.nextDueTime().map(Date.init(milliseconds:)),
                hasLostWorkers: try !db.lostWorkers(except: worker).isEmpty,
                isInPlace: identity.isInPlace
            )
            return (sweep, try ChangeFeed.hasNewChanges(enteredBy: db.now - ChangeFeed.rest, db))
        }
        if hasOldChanges { numberChangesSoon() }
        return sweep
    }

    package func takeRefused() -> [LostJob] {
        refused.withLock { refused in
            defer { refused = [] }
            return refused
        }
    }

    package func rescueExpired(except own: String?) async throws(StoreError) -> RescueReport {
        let candidates = try await read { db in try db.lostWorkers(except: own) }
        guard !candidates.isEmpty else { return RescueReport() }
        return try await commit(.begun) { db in
            var report = RescueReport()
            // Locked and looked at again: they may have come back, or have been rescued by another process.
            for worker in try db.lostWorkers(except: own) where candidates.contains(where: { $0.id == worker.id }) {
                try db.rescueJobs(of: worker, into: &report)
            }
            return report
        }
    }
}
