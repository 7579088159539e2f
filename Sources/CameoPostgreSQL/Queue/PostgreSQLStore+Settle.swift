package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    package func settle(
        _ claim: Claim,
        as end: AttemptEnd,
        timings: AttemptTimings
    ) async throws(StoreError) -> Settlement {
        try await settle(.holds(claim)) { db in
            switch end {
            case .retry(let failure, let time):
                try db.settle(claim, as: .retryable(at: time.milliseconds), failure: failure, timings: timings)
            case .discard(let failure): try db.settle(claim, as: .discarded, failure: failure, timings: timings)
            case .release: try db.settle(claim, as: .released, failure: nil, timings: AttemptTimings())
            case .postpone(let time): try db.postpone(try db.takeTask(of: claim), until: time)
            case .leave(let unable, let time): try db.leave(claim, unable, until: time, timings: timings)
            }
        }
    }

    package func complete(_ claim: Claim, with product: JobProduct, timings: AttemptTimings) async throws(StoreError) {
        switch product {
        case .rendered(let thumbnails, let provenance):
            try await complete(claim, storing: thumbnails, from: provenance, timings: timings)
        case .kept(let thumbnails, let seen):
            try await complete(claim, keeping: thumbnails, seen: seen, timings: timings)
        }
    }

    /// Stores thumbnails and completion atomically (invariant I2).
    private func complete(
        _ claim: Claim,
        storing thumbnails: [RenderedThumbnail],
        from provenance: Provenance,
        timings: AttemptTimings
    ) async throws(StoreError) {
        let started = ContinuousClock.now
        var prepared: [(thumbnail: RenderedThumbnail, blob: PreparedBlob)] = []
        for thumbnail in thumbnails {
            let bytes = thumbnail.encoded.bytes
            let type = thumbnail.encoded.format.mediaType
            let blob = try await prepare(bytes, digest: SHA256.digest(of: bytes), mediaType: type)
            prepared.append((thumbnail, blob))
        }
        let blobs = prepared
        let measured: @Sendable () -> AttemptTimings = {
            var measured = timings
            measured.storeMilliseconds = started.duration(to: .now).milliseconds
            return measured
        }
        // Whether bytes outside of the database are sound cannot be found out inside the transaction.
        var checked: [BlobDigest: Bool] = [:]
        let use: ClaimUse = storage == nil ? .completes(claim, timings: measured) : .holds(claim)
        while true {
            let known = checked
            let unknown = try await settle(use) { db -> [BlobDigest] in
                let same = try SameThumbnails(blobs.map(\.thumbnail), provenance, known, db)
                if let first = same.unknown.first {
                    // Without a storage, the job has been completed beforehand, and this throws.
                    _ = try self.bytesStorage(for: first)
                    return same.unknown
                }
                try db.complete(claim, timings: measured())
                try db.store(blobs, renewing: same.sound, from: provenance, jobID: claim.jobID)
                return []
            }
            if unknown.isEmpty { return }
            for digest in unknown { checked[digest] = try await isWhole(digest) }
        }
    }
}

/// How a claim is settled whose job is not completed.
enum SettledOutcome {
    case retryable(at: Int64)
    case discarded
    case released

    var ofAttempt: JobAttempt.Outcome {
        switch self {
        case .retryable: .retryable
        case .discarded: .discarded
        case .released: .released
        }
    }
}

extension Database {
    @discardableResult
    func settle(_ claim: Claim, as outcome: SettledOutcome, failure: JobFailure?, timings: AttemptTimings) throws
        -> Settlement
    {
        var task = try takeTask(of: claim)
        try close(task, as: outcome.ofAttempt, failure: failure, timings: timings)
        switch outcome {
        case .discarded: try end(task, from: .running, End(state: .discarded, failure: failure))
        case .retryable(let time):
            if let failure { fail(failure.code, .retriedFailures) }
            (task.state, task.due, task.failed) = (.retryable, time, task.tries)
            (task.token, task.worker) = (nil, nil)
            return Settlement(try letWait(task, from: .running))
        case .released: return try giveBack(task, deaths: 0)
        }
        return .asAsked
    }

    /// See ``AttemptEnd/leave(_:until:)``.
    fileprivate func leave(_ claim: Claim, _ unable: HostUnable, until time: Date, timings: AttemptTimings) throws
        -> Settlement
    {
        let task = try takeTask(of: claim)
        guard let worker = task.worker else { throw StoreError.leaseLost(jobID: task.id) }
        try add(unable.lack, of: worker)
        let rows = try query(
            """
            SELECT host, EXISTS (
              SELECT 1 FROM worker_lack WHERE worker_lack.worker = worker.id AND lack = $1)
            FROM worker
            WHERE id = $2 OR (stop_mode IS NULL AND lease_until >= $3
              AND (queues IS NULL OR (SELECT name FROM queue WHERE id = $4) = ANY(queues)))
            """,
            [unable.lack.description, worker, now, task.queue]
        )
        guard let failure = unable.failure(on: try rows.map { (host: try $0[0], lacks: try $0[1]) }) else {
            return try postpone(task, until: time)
        }
        try close(task, as: .discarded, failure: failure, timings: timings)
        try end(task, from: .running, End(state: .discarded, failure: failure))
        return .discarded(failure)
    }

    /// Records what a worker's host lacks.
    func add(_ lack: HostLack, of worker: String) throws {
        try execute(
            "INSERT INTO worker_lack SELECT id, $1 FROM worker WHERE id = $2 ON CONFLICT DO NOTHING",
            [lack.description, worker]
        )
    }

    fileprivate func postpone(_ task: TaskRow, until time: Date) throws -> Settlement {
        var task = task
        (task.state, task.due) = (.retryable, time.milliseconds)
        (task.token, task.worker) = (nil, nil)
        (task.attempt, task.tries) = (max(0, task.attempt - 1), task.tries - 1)
        return Settlement(try letWait(task, from: .running))
    }
}
