package import CameoModel
package import CameoStore
package import Foundation
internal import GRDB

extension SQLiteStore {
    /// Stores thumbnails and completion atomically (invariant I2).
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    package func complete(
        _ claim: Claim,
        storing thumbnails: [RenderedThumbnail],
        from provenance: Provenance,
        timings: AttemptTimings
    ) async throws(StoreError) {
        let started = ContinuousClock.now
        var prepared: [(thumbnail: RenderedThumbnail, blob: PreparedBlob)] = []
        for thumbnail in thumbnails {
            let digest = SHA256.digest(of: thumbnail.encoded.bytes)
            let type = thumbnail.encoded.format.mediaType
            let blob = try await files.prepare(thumbnail.encoded.bytes, digest: digest, mediaType: type)
            prepared.append((thumbnail, blob))
        }
        let (blobs, files) = (prepared, files)
        do throws(StoreError) {
            try await commitCounting { db in
                var timings = timings
                timings.storeMilliseconds = started.duration(to: .now).milliseconds
                try Self.settle(claim, as: .completed, failure: nil, timings: timings, db)
                for (thumbnail, blob) in blobs {
                    try Self.store(thumbnail, blob, from: provenance, jobID: claim.jobID, files, in: db)
                }
                KillPoint.insideTransaction.pass()
            }
        } catch {
            if case .leaseLost = error { await leaveToCollector(blobs.map(\.blob)) }
            throw error
        }
        KillPoint.afterCommit.pass()
    }

    /// Gives rows to files that no job will reference, so that collection finds them. Best effort: a check finds them
    /// too.
    private func leaveToCollector(_ blobs: [PreparedBlob]) async {
        let files = blobs.filter { $0.data == nil }
        guard !files.isEmpty else { return }
        try? await commit(.begun) { db in
            for blob in files { try blob.leave(in: db) }
        }
    }

    /// Ends a failed attempt: the job is retried at `retryAt`, or discarded if that is nil.
    ///
    /// - Returns: whether the job waits again or was superseded.
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    @discardableResult
    package func fail(
        _ claim: Claim,
        with failure: JobFailure,
        retryAt: Date?,
        timings: AttemptTimings
    ) async throws(StoreError) -> Settlement {
        let outcome = retryAt.map { SettledOutcome.retryable(at: $0.milliseconds) } ?? .discarded
        return try await commitCounting { db in
            try Self.settle(claim, as: outcome, failure: failure, timings: timings, db)
        }
    }

    /// Releases a job without counting the attempt.
    ///
    /// - Returns: whether the job waits again or was superseded.
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid.
    @discardableResult
    package func release(_ claim: Claim) async throws(StoreError) -> Settlement {
        return try await commitCounting { db in
            try Self.settle(claim, as: .released, failure: nil, timings: AttemptTimings(), db)
        }
    }

    func postpone(_ claim: Claim, until time: Date) async throws(StoreError) -> Settlement {
        return try await commitCounting { db in
            return try Self.postpone(try TaskRow.find(claim, db), until: time, db)
        }
    }

    private static func postpone(
        _ task: TaskRow,
        until time: Date,
        _ db: SQLiteTransaction
    ) throws -> Settlement {
        var task = task
        (task.state, task.due) = (.retryable, time.milliseconds)
        (task.token, task.worker) = (nil, nil)
        (task.attempt, task.tries) = (max(0, task.attempt - 1), task.tries - 1)
        return Settlement(try letWait(task, from: .running, db))
    }

    /// See ``AttemptEnd/leave(_:until:)``.
    func leave(
        _ claim: Claim,
        _ unable: HostUnable,
        until time: Date,
        timings: AttemptTimings
    ) async throws(StoreError) -> Settlement {
        let uptime = clock.uptime()
        return try await commitCounting { db in
            let task = try TaskRow.find(claim, db)
            guard let worker = task.worker else { throw StoreError.leaseLost(jobID: task.id) }
            try Self.add(unable.lack, of: worker, db)
            let rows = try Row.fetchAll(
                db.sqlite,
                sql: """
                    SELECT host, EXISTS (
                      SELECT 1 FROM worker_lack WHERE worker_lack.worker = worker.id AND lack = ?1) AS lacks
                    FROM worker
                    WHERE id = ?2 OR (stop_mode IS NULL AND lease_until >= ?3 AND boot_id = ?4 AND (queues IS NULL OR EXISTS (
                      SELECT 1 FROM json_each(queues) WHERE value = (SELECT name FROM queue WHERE id = ?5))))
                    """,
                arguments: [unable.lack.description, worker, uptime, BootIdentity.current, task.queue]
            )
            guard let failure = unable.failure(on: rows.map { (host: $0["host"], lacks: $0["lacks"]) }) else {
                return try Self.postpone(task, until: time, db)
            }
            try Self.settle(claim, as: .discarded, failure: failure, timings: timings, db)
            return .discarded(failure)
        }
    }

    /// Records what a worker's host lacks.
    static func add(_ lack: HostLack, of worker: String, _ db: SQLiteTransaction) throws {
        try db.execute(
            sql: "INSERT INTO worker_lack SELECT id, ? FROM worker WHERE id = ? ON CONFLICT DO NOTHING",
            arguments: [lack.description, worker]
        )
    }

    enum SettledOutcome {
        case completed
        case retryable(at: Int64)
        case discarded
        case released

        var ofAttempt: JobAttempt.Outcome {
            switch self {
            case .completed: .completed
            case .retryable: .retryable
            case .discarded: .discarded
            case .released: .released
            }
        }
    }

    @discardableResult
    static func settle(
        _ claim: Claim,
        as outcome: SettledOutcome,
        failure: JobFailure?,
        timings: AttemptTimings,
        _ db: SQLiteTransaction
    ) throws -> Settlement {
        var task = try TaskRow.find(claim, db)
        let exists = try close(task, as: outcome.ofAttempt, failure: failure, timings: timings, db)
        guard exists else { return .asAsked }
        var settlement = Settlement.asAsked
        switch outcome {
        case .completed: try end(task, from: .running, End(state: .completed), db)
        case .discarded:
            try end(task, from: .running, End(state: .discarded, failure: failure), db)
        case .retryable(let time):
            if let failure { db.fail(failure.code, .retriedFailures) }
            (task.state, task.due, task.failed) = (.retryable, time, task.tries)
            (task.token, task.worker) = (nil, nil)
            settlement = Settlement(try letWait(task, from: .running, db))
        case .released: settlement = try giveBack(task, deaths: 0, db)
        }
        return settlement
    }
}
