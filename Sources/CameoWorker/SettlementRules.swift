internal import CameoFetch
internal import CameoModel
internal import CameoStore
internal import Foundation

// DESIGN. A mistake in a settlement loses a job, repeats it for ever, or charges it for somebody else's trouble. So every
// decision is made here, from values alone: the result of an attempt decides the first write, and the store's refusal of a
// write decides the next action. `Settler` carries the actions out, in the worker's only retry loop.

/// The next step of a settlement.
enum SettlementAction: Sendable {
    /// Makes a write after a pause. `refusals` is how often in a row the store has refused this very write.
    case write(AttemptEnd, after: Duration = .zero, refusals: Int = 0)
    /// Ends although nothing was recorded.
    case end(JobOutcome.Kind)
}

/// Decides how an attempt is settled, given the state of the worker at the moment of the decision.
struct SettlementRules: Sendable {
    let isStopping: Bool
    let drains: Bool
    /// How long a worker that is about to end repeats a write.
    let patience: Duration
    /// The end of the attempt, from which waits count.
    let endedAt: Date
    /// A random number in 0…1.
    let chance: Double
    /// How long the job waits after a failure for its next attempt; nil: it gets none.
    let delay: @Sendable (JobFailure) -> Duration?

    /// Whether the worker is about to end. A service that goes on waits for its store as long as it takes.
    private var isEnding: Bool { drains || isStopping }

    /// The first action after an attempt. A result or a failure of the job itself stands even if the job was stopped
    /// meanwhile; the reason for the stop explains every other error. `stoodStill` says whether the whole worker stood still
    /// for a part of the attempt.
    func action(
        for result: Result<JobProduct, any Error>,
        stoppedFor reason: JobControl.StopReason?,
        source: String,
        stoodStill: Bool = false
    ) -> SettlementAction {
        switch (result, reason) {
        // Servers and renderers may have waited for this worker, and not it for them.
        case (.failure(let failure as JobFailure), _) where stoodStill && failure.code.isOfTime: .write(.release)
        case (.failure, .timedOut) where stoodStill: .write(.release)
        case (.success(let product), _): .write(.complete(product))
        // As after trouble with the whole store.
        case (.failure(let failure as JobFailure), _) where failure.isShortage && !drains:
            .write(.release, after: isStopping ? .zero : .seconds(1))
        case (.failure(let failure as JobFailure), _):
            failure.lack.map { leave(HostUnable($0, for: source, ending: failure)) } ?? fail(failure)
        case (.failure(let unable as HostUnable), _): leave(unable)
        case (.failure(let error as InvalidRequest), _):
            fail(.requestInvalid, .request, "the request is invalid: \(error)")
        case (.failure, .timedOut):
            fail(.jobTimedOut, .worker, "the attempt took longer than its time limit (source \(source))")
        case (.failure, .claimLost): .end(.leaseLost)
        case (.failure, .shutdown): .write(.release)
        case (.failure(let busy as HostBusy), nil): .write(.postpone(until: endedAt + busy.delay.seconds))
        case (.failure(let error as StoreError), nil): action(without: error)
        // Nobody stopped the job, so the whole worker is being cancelled.
        case (.failure(is CancellationError), nil): .write(.release)
        case (.failure(let error), nil): fail(.storeFailed, .worker, "unexpected error: \(error)")
        }
    }

    /// The action after the store refused a write several times in a row, `lasting` so long. A store that refuses a result is
    /// not the job's fault, so a service repeats the write until it succeeds; if the store refuses it for good, the job makes
    /// room for others that it may take.
    func action(after error: StoreError, of write: AttemptEnd, refusals: Int, lasting: Duration) -> SettlementAction {
        let pause = RetryPolicy.untilItSucceeds.delay(afterFailures: refusals, chance: 0)
        let again = SettlementAction.write(write, after: pause, refusals: refusals)
        return switch (error, write) {
        case (.leaseLost, _): .end(.leaseLost)
        // The token tells the next write, or the next worker, how it ended.
        case (.uncertain, _) where isEnding: .end(.unrecorded(reason: error.description))
        // A thumbnail that was to be kept has been removed since: the next attempt finds it missing, and makes it.
        case (.notFound, .complete(.kept)): .write(.release)
        case (.refused, .complete), (.notFound, .complete): fail(JobFailure(error))
        case (.denied, .complete): refusals >= 3 ? action(without: error) : again
        case (_, .complete): isEnding && refusals >= 3 ? action(without: error) : again
        case (.refused(let reason), _): .end(.unrecorded(reason: reason))
        default: isEnding && lasting > patience ? .end(.unrecorded(reason: error.description)) : again
        }
    }

    /// The action when the store's error leaves no result to record. Errors that concern the whole store are not charged to
    /// the job, except in a drain: no later worker would try again. What is refused for good waits for an operator.
    private func action(without error: StoreError) -> SettlementAction {
        switch error {
        case .leaseLost: return .end(.leaseLost)
        case .denied where !isStopping:
            return drains ? .end(.unrecorded(reason: error.description)) : fail(JobFailure(error))
        case .full, .busy, .cancelled, .readOnly, .unreachable, .denied, .cannotOpen:
            if isStopping { return .write(.release) }
            return drains ? fail(JobFailure(error)) : .write(.release, after: .seconds(1))
        default: return fail(JobFailure(error))
        }
    }

    private func fail(_ code: JobFailure.Code, _ stage: JobFailure.Stage, _ message: String) -> SettlementAction {
        fail(JobFailure(code, at: stage, message))
    }

    private func fail(_ failure: JobFailure) -> SettlementAction {
        .write(delay(failure).map { AttemptEnd.retry(failure, at: endedAt + $0.seconds) } ?? .discard(failure))
    }

    private func leave(_ unable: HostUnable) -> SettlementAction {
        // At no fixed pace, or this worker would find the same jobs first each time.
        .write(.leave(unable, until: endedAt + 0.5 + chance))
    }
}

extension JobFailure {
    fileprivate init(_ error: StoreError) {
        switch error {
        case .full: self.init(.storeFull, at: .store, error.description)
        case .damagedBlob: self.init(.sourceNotFound, at: .fetch, error.description)
        case .refused: self.init(.storeFailed, at: .store, error.description, isRetryable: false)
        case .denied: self.init(.storeRefused, at: .store, error.description)
        case .cancelled: self.init(.storeCancelled, at: .store, error.description)
        default: self.init(.storeFailed, at: .store, error.description)
        }
    }
}
