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
    let control: JobControl

    /// Returns when the end is recorded, or cannot be. Not to be called by a task that may be cancelled.
    func settle(_ result: Result<JobProduct, any Error>) async -> JobOutcome.Kind {
        let (endedAt, chance, time) = (store.clock.now(), configuration.random(), configuration.time)
        var action = rules(endedAt, chance).action(
            for: result,
            stoppedFor: control.stopReason,
            source: control.progress.source.map(SourceName.of) ?? "unknown",
            stoodStill: phase.stoodStill(since: control.claimedAt)
        )
        if case .failure(let failure as JobFailure) = result, case .write(.release, _, _) = action {
            logger.warning(
                failure.isShortage
                    ? "released: \(failure.message)"
                    : "released: the worker stood still for a while: \(failure.message)",
                metadata: ["job": .stringConvertible(control.job.claim.jobID)]
            )
        }
        if case .failure(let error as StoreError) = result { note(error, before: action) }
        var begun = time.now()
        phase.refusedEnd(of: control.job.claim, "it has not answered")
        defer { phase.refusedEnd(of: control.job.claim, nil) }
        while true {
            switch action {
            case .end(let outcome): return outcome
            case .write(let write, let pause, let before):
                await time.pause(pause)
                if before == 0 { begun = time.now() }
                do throws(StoreError) {
                    return try await record(write, endedAt)
                } catch {
                    let (rules, lasting) = (rules(endedAt, chance), begun.duration(to: time.now()))
                    action = rules.action(after: error, of: write, refusals: before + 1, lasting: lasting)
                    phase.refusedEnd(of: control.job.claim, error.description)
                    note(error, before: action)
                    warn(of: error, before: action)
                }
            }
        }
    }

    private func rules(_ endedAt: Date, _ chance: Double) -> SettlementRules {
        SettlementRules(
            isStopping: phase.isStopping,
            drains: configuration.drains,
            patience: configuration.patience,
            endedAt: endedAt,
            chance: chance,
            delay: { failure in
                configuration.retryPolicy.adjusted(to: control.progress.retry).delay(
                    afterAttempt: control.job.attempt,
                    of: control.job.maxAttempts,
                    failure: failure,
                    previous: control.job.previousFailure,
                    chance: chance
                )
            }
        )
    }

    private func record(_ end: AttemptEnd, _ endedAt: Date) async throws(StoreError) -> JobOutcome.Kind {
        let begun = configuration.time.now()
        let other = try await store.settle(control.job.claim, as: end, timings: control.progress.timings)
        if case .complete = end {
            control.progress.timings.storeMilliseconds = begun.duration(to: configuration.time.now()).milliseconds
        }
        if let duplicate = other?.supersededBy { return .superseded(by: duplicate) }
        if let failure = other?.failure { return .recorded(.discard(failure)) }
        let wait = end.time.map { Duration.milliseconds(($0.timeIntervalSince(endedAt) * 1_000).rounded()) }
        return .recorded(end, wait: wait ?? .zero)
    }

    /// Notes that the attempt ends because the store refuses for good what came of it.
    private func note(_ error: StoreError, before action: SettlementAction) {
        guard case .denied = error else { return }
        switch action {
        case .write(.retry, _, 0), .end(.unrecorded): phase.refusedForGood(error.description)
        default: break
        }
    }

    /// Logs the first refusal of a write that is to be repeated, and every tenth.
    private func warn(of error: StoreError, before action: SettlementAction) {
        guard case .write(_, _, let refusals) = action, refusals % 10 == 0 ? refusals > 0 : refusals == 1 else {
            return
        }
        let metadata: Logger.Metadata = ["job": .stringConvertible(control.job.claim.jobID), "reason": "\(error)"]
        logger.warning("waits for the store to take its result", metadata: metadata)
    }
}
