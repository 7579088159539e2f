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
        let now = nowMilliseconds
        do throws(StoreError) {
            try await commitCounting { db, ledger in
                var timings = timings
                timings.storeMilliseconds = started.duration(to: .now).milliseconds
                try Self.settle(claim, as: .completed, failure: nil, timings: timings, now: now, &ledger, db)
                for (thumbnail, blob) in blobs {
                    try Self.store(thumbnail, blob, from: provenance, jobID: claim.jobID, now: now, files, in: db)
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
        let now = nowMilliseconds
        try? await commit(.begun) { db in
            for blob in files { try blob.leave(in: db, at: now) }
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
        let now = nowMilliseconds
        let outcome = retryAt.map { SettledOutcome.retryable(at: $0.milliseconds) } ?? .discarded
        return try await commitCounting { db, ledger in
            try Self.settle(claim, as: outcome, failure: failure, timings: timings, now: now, &ledger, db)
        }
    }

    /// Releases a job without counting the attempt.
    ///
    /// - Returns: whether the job waits again or was superseded.
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid.
    @discardableResult
    package func release(_ claim: Claim) async throws(StoreError) -> Settlement {
        let now = nowMilliseconds
        return try await commitCounting { db, ledger in
            try Self.settle(claim, as: .released, failure: nil, timings: AttemptTimings(), now: now, &ledger, db)
        }
    }

    func postpone(_ claim: Claim, until time: Date) async throws(StoreError) -> Settlement {
        let now = nowMilliseconds
        return try await commit(.begun) { db in
            var task = try TaskRow.find(claim, db)
            (task.state, task.due) = (.retryable, time.milliseconds)
            (task.token, task.worker) = (nil, nil)
            (task.attempt, task.tries) = (max(0, task.attempt - 1), task.tries - 1)
            var ledger = Ledger(now: now)
            let settlement = Settlement(try Self.letWait(task, from: .running, now: now, &ledger, db))
            try ledger.post(db)
            return settlement
        }
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
        now: Int64,
        _ ledger: inout Ledger,
        _ db: Database
    ) throws -> Settlement {
        var task = try TaskRow.find(claim, db)
        ledger.now = now
        try close(task, as: outcome.ofAttempt, failure: failure, timings: timings, now: now, db)
        var settlement = Settlement.asAsked
        switch outcome {
        case .completed: try end(task, from: .running, End(state: .completed), now: now, &ledger, db)
        case .discarded:
            try end(task, from: .running, End(state: .discarded, failure: failure), now: now, &ledger, db)
        case .retryable(let time):
            if let failure { ledger.fail(failure.code, .retriedFailures) }
            (task.state, task.due, task.failed) = (.retryable, time, task.tries)
            (task.token, task.worker) = (nil, nil)
            settlement = Settlement(try letWait(task, from: .running, now: now, &ledger, db))
        case .released: settlement = try giveBack(task, deaths: 0, now: now, &ledger, db)
        }
        return settlement
    }
}
