internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Logging

/// Records how one attempt ended, whatever state the store is in.
struct Settler: Sendable {
    let store: any WorkerStore
    let configuration: WorkerConfiguration
    let phase: WorkerPhase
    let logger: Logger
    let job: ClaimedJob
    let claimedAt: ContinuousClock.Instant
    let progress: AttemptProgress

    /// Returns when the end is recorded, or cannot be. Not to be called by a task that may be cancelled.
    func settle(
        _ result: Result<JobProduct, any Error>,
        stoppedFor reason: JobControl.StopReason?
    ) async -> JobOutcome.Kind {
        let (endedAt, chance, time) = (store.clock.now(), configuration.random(), configuration.time)
        var action = rules.action(
            for: result,
            stoppedFor: reason,
            source: progress.source.map(SourceName.of) ?? "unknown",
            stoodStill: phase.stoodStill(since: claimedAt)
        )
        if case .failure(let failure as JobFailure) = result, case .write(.release, _, _) = action {
            logger.warning(
                failure.isShortage
                    ? "released: \(failure.message)"
                    : "released: the worker stood still for a while: \(failure.message)",
                metadata: ["job": .stringConvertible(job.claim.jobID)]
            )
        }
        if case .failure(let error as StoreError) = result { note(error, before: action) }
        var begun = time.now()
        phase.refusedEnd(of: job.claim, "it has not answered")
        defer { phase.refusedEnd(of: job.claim, nil) }
        while true {
            switch action {
            case .end(let outcome): return outcome
            case .write(let write, let pause, let refusals):
                await time.pause(pause)
                if refusals == 0 { begun = time.now() }
                do throws(StoreError) {
                    return try await perform(write, endedAt, chance)
                } catch {
                    let lasting = begun.duration(to: time.now())
                    action = rules.action(after: error, of: write, refusals: refusals + 1, lasting: lasting)
                    phase.refusedEnd(of: job.claim, error.description)
                    note(error, before: action)
                    warn(of: error, before: action)
                }
            }
        }
    }

    private var rules: SettlementRules {
        SettlementRules(isStopping: phase.isStopping, drains: configuration.drains, patience: configuration.patience)
    }

    private func perform(
        _ write: SettlementWrite,
        _ endedAt: Date,
        _ chance: Double
    ) async throws(StoreError) -> JobOutcome.Kind {
        switch write {
        case .complete(let product):
            let begun = configuration.time.now()
            try await store.complete(job.claim, with: product, timings: progress.timings)
            progress.timings.storeMilliseconds = begun.duration(to: configuration.time.now()).milliseconds
            switch product {
            case .rendered(let thumbnails, _): return .completed(thumbnails: thumbnails.count)
            case .kept(let thumbnails, _): return .unchanged(thumbnails: thumbnails.count)
            }
        case .fail(let failure):
            let delay = configuration.retryPolicy.adjusted(to: progress.retry).delay(
                afterAttempt: job.attempt,
                of: job.maxAttempts,
                failure: failure,
                previous: job.previousFailure,
                chance: chance
            )
            guard let delay else {
                return try await end(as: .discard(failure), .discarded(failure))
            }
            return try await end(as: .retry(failure, at: endedAt + delay.seconds), .retried(failure, after: delay))
        case .release: return try await end(as: .release, .released)
        case .rest(let delay): return try await end(as: .postpone(until: endedAt + delay.seconds), .released)
        case .postpone(let delay):
            return try await end(as: .postpone(until: endedAt + delay.seconds), .postponed(delay))
        case .leave(let unable):
            // At no fixed pace, or this worker would find the same jobs first each time.
            let delay = Duration.seconds(0.5 + chance)
            return try await end(as: .leave(unable, until: endedAt + delay.seconds), .left(unable, for: delay))
        }
    }

    private func end(as end: AttemptEnd, _ outcome: JobOutcome.Kind) async throws(StoreError) -> JobOutcome.Kind {
        switch try await store.settle(job.claim, as: end, timings: progress.timings) {
        case .asAsked: outcome
        case .superseded(let duplicate): .superseded(by: duplicate)
        case .discarded(let failure): .discarded(failure)
        }
    }

    /// Notes that the attempt ends because the store refuses for good what came of it.
    private func note(_ error: StoreError, before action: SettlementAction) {
        guard case .denied = error else { return }
        switch action {
        case .write(.rest, _, 0), .end(.unrecorded): phase.refusedForGood(error.description)
        default: break
        }
    }

    /// Logs the first refusal of a write that is to be repeated, and every tenth.
    private func warn(of error: StoreError, before action: SettlementAction) {
        guard case .write(_, _, let refusals) = action, refusals % 10 == 0 ? refusals > 0 : refusals == 1 else {
            return
        }
        let metadata: Logger.Metadata = ["job": .stringConvertible(job.claim.jobID), "reason": "\(error)"]
        logger.warning("waits for the store to take its result", metadata: metadata)
    }
}
