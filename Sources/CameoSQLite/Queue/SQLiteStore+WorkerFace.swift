package import CameoModel
package import CameoQueue
package import CameoStore
package import Foundation

// Calls of ``WorkerStore`` that combine several others.
extension SQLiteStore {
    package func sweep(for worker: String) async throws(StoreError) -> WorkerSweep {
        let directory = directory
        let sweep = try await read { db in
            WorkerSweep(
                stop: try db.stopRequest(for: worker),
                refusal: try Schema.refusal(by: db.sqlite, at: directory.path),
                claims: try db.claims(of: worker),
                due: try Self.nextDueTime(db).map(Date.init(milliseconds:)),
                hasLostWorkers: try !Self.lostWorkers(except: worker, db).isEmpty
            )
        }
        // The claims run into the same trouble with the store, and report it.
        if sweep.refusal == nil, isInPlace { try? await acceptBesideWork() }
        return sweep
    }

    package func complete(
        _ claim: Claim,
        storing thumbnails: [PreparedThumbnail],
        from provenance: Provenance,
        timings: @escaping @Sendable () -> AttemptTimings
    ) async throws(StoreError) {
        let files = files
        do throws(StoreError) {
            try await commit(.holding(claim)) { db in
                try db.complete(claim, timings: timings())
                for made in thumbnails {
                    try Self.store(made.thumbnail, made.blob, from: provenance, jobID: claim.jobID, files, in: db)
                }
                KillPoint.insideTransaction.pass()
            }
        } catch {
            let written = thumbnails.map(\.blob).filter { $0.data == nil }
            if case .leaseLost = error, !written.isEmpty {
                // Gives rows to files that no job will reference, so that collection finds them; a check finds them too.
                try? await commit(.begun) { db in
                    for blob in written { try blob.leave(db) }
                }
            }
            throw error
        }
        KillPoint.afterCommit.pass()
    }

    package func enqueue(_ new: [CheckedRequest]) async throws(StoreError) -> [EnqueueReceipt] {
        try await enqueueAccepted(new)
    }

    package func enqueue(
        _ request: ThumbnailRequest,
        data: Data?,
        cacheKey: CacheKey?,
        once key: IdempotencyKey?
    ) async throws -> EnqueueReceipt {
        try await enqueueAccepted(request, data: data, cacheKey: cacheKey, once: key)
    }
}

extension SQLiteTransaction {
    package func enter(_ new: [CheckedRequest], _ made: MadeThumbnails) throws -> [EnqueueReceipt] {
        let accepted = try SQLiteStore.acceptedThrough(self)
        var last = accepted
        let receipts = try new.enumerated().map { index, draft in
            let receipt = try enter(draft, answer: try made.answer(to: draft, at: index, self))
            if receipt.outcome != .joined, let id = receipt.id { last = max(last, id) }
            return receipt
        }
        try flush()
        // Rows inserted by SQL before these must still be accepted.
        let count: Int64? = try value("SELECT count(*) FROM accepted WHERE id > ?1", [accepted])
        if last > accepted, count == last - accepted { try SQLiteStore.noteAccepted(through: last, self) }
        return receipts
    }

    private func enter(_ new: CheckedRequest, answer thumbnails: [Thumbnail]?) throws -> EnqueueReceipt {
        if let thumbnails { return try answer(new, by: thumbnails) }
        if let duplicate = try waitingJob(for: new.key.text) {
            return try receipt(.joined, new, try join(new, duplicate))
        }
        if new.needsJob, let running = try runningJob(for: new.key.text) {
            return try receipt(.joined, new, running)
        }
        let entry = try newTask(new.job, as: try insertJob(new.text), createdAt: now)
        try record([entry])
        try insert(entry.task)
        move(entry.task, from: nil, to: entry.task.state)
        return try receipt(.accepted, new, entry.task)
    }
}
