package import CameoModel
package import Foundation
internal import GRDB

extension Store {
    /// Stores all thumbnails of a job and completes it: together, or not at all (invariant I2).
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
        try await commit(.begun) { db in
            var timings = timings
            timings.storeMilliseconds = started.duration(to: .now).milliseconds
            try Self.settle(claim, as: .completed, failure: nil, timings: timings, now: now, in: db)
            for (thumbnail, blob) in blobs {
                try Self.store(thumbnail, blob, from: provenance, jobID: claim.jobID, now: now, files, in: db)
            }
            KillPoint.insideTransaction.pass()
        }
        KillPoint.afterCommit.pass()
    }

    /// Ends an attempt that failed: the job waits until `retryAt`, or is discarded when that is nil.
    ///
    /// - Returns: whether it does, or a job that waits for the same took its place.
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
        return try await commit(.begun) { db in
            try Self.settle(claim, as: outcome, failure: failure, timings: timings, now: now, in: db)
            return retryAt == nil ? .asAsked : try Settlement(of: claim.jobID, now: now, db)
        }
    }

    /// Gives a job back unharmed: the attempt is not charged.
    ///
    /// - Returns: whether it waits again, or a job that waits for the same took its place.
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid.
    @discardableResult
    package func release(_ claim: Claim) async throws(StoreError) -> Settlement {
        let now = nowMilliseconds
        return try await commit(.begun) { db in
            try Self.settle(claim, as: .released, failure: nil, timings: AttemptTimings(), now: now, in: db)
            return try Settlement(of: claim.jobID, now: now, db)
        }
    }

    enum SettledOutcome {
        case completed
        case retryable(at: Int64)
        case discarded
        case released
    }

    static func settle(
        _ claim: Claim,
        as outcome: SettledOutcome,
        failure: JobFailure?,
        timings: AttemptTimings,
        now: Int64,
        in db: Database
    ) throws {
        let failureText = try failure?.stored
        let change: String
        let name: JobAttempt.Outcome
        var arguments: [(any DatabaseValueConvertible)?] = []
        switch outcome {
        case .completed:
            change = "state = 'completed', finalized_at = ?, failure = NULL"
            arguments = [now]
            name = .completed
        case .retryable(let time):
            change = "state = 'retryable', available_at = ?, rank = ? - priority * 60000, failure = ?"
            arguments = [time, time, failureText]
            name = .retryable
        case .discarded:
            change = "state = 'discarded', finalized_at = ?, failure = ?"
            arguments = [now, failureText]
            name = .discarded
        case .released:
            change = "state = 'available', attempt = attempt - 1"
            name = .released
        }
        let settle = try db.cachedStatement(
            sql: """
                UPDATE job SET \(change), claim_token = NULL, worker = NULL
                WHERE id = ? AND claim_token = ? AND state = 'running'
                """
        )
        arguments += [claim.jobID, claim.token] as [(any DatabaseValueConvertible)?]
        try settle.execute(arguments: StatementArguments(arguments))
        guard db.changesCount == 1 else { throw StoreError.leaseLost(jobID: claim.jobID) }
        let close = try db.cachedStatement(
            sql: """
                UPDATE attempt SET outcome = ?, finished_at = ?, failure = ?,
                  fetch_ms = ?, render_ms = ?, store_ms = ?, source_bytes = ?, output_bytes = ?
                WHERE claim_token = ?
                """
        )
        try close.execute(arguments: [
            name.rawValue, now, failureText, timings.fetchMilliseconds, timings.renderMilliseconds,
            timings.storeMilliseconds, timings.sourceBytes, timings.outputBytes, claim.token,
        ])
    }
}
