internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CameoWorker
internal import CommandSupport
internal import Foundation
internal import Synchronization

/// Counts the outcomes of a drain, draws its progress, and prints a one-line summary.
final class DrainTally: Sendable {
    private struct State {
        var total = 0
        var completed = 0
        var thumbnails = 0
        var discarded = 0
        var retried = 0
        var unrecorded: [String] = []
        var progress: ProgressBar?
        let started = ContinuousClock.now
    }

    private let state: Mutex<State>

    init(showsProgress: Bool) {
        var state = State()
        if showsProgress { state.progress = ProgressBar() }
        self.state = Mutex(state)
    }

    /// - Parameter total: the jobs waiting at the beginning; more may arrive.
    func start(with total: Int) {
        state.withLock { $0.total = total }
    }

    func note(_ outcome: JobOutcome) {
        state.withLock { state in
            switch outcome.kind {
            case .recorded(.complete(let product), _):
                state.completed += 1
                state.thumbnails += product.count
            case .recorded(.discard, _): state.discarded += 1
            case .recorded(.retry, _): state.retried += 1
            case .recorded, .leaseLost, .superseded: break
            case .unrecorded(let reason): state.unrecorded.append(reason)
            }
            let done = state.completed + state.discarded
            let note = state.discarded > 0 ? "\(state.discarded) discarded" : ""
            state.progress?.show(done: done, of: max(state.total, done), note: note)
        }
    }

    /// Prints the summary.
    ///
    /// - Throws: ``CommandFailure`` if a job was discarded, or if its outcome could not be recorded.
    func finish(isDrained: Bool) throws {
        let final = state.withLock { state in
            state.progress?.finish()
            return (
                state.completed, state.thumbnails, state.discarded, state.retried, state.unrecorded.first, state.started
            )
        }
        let (completed, thumbnails, discarded, retried, unrecorded, started) = final
        let seconds = started.duration(to: .now).seconds
        let rate = seconds > 0 ? Double(completed + discarded) / seconds : 0
        Output.line(
            "\(isDrained ? "drained" : "stopped"): \(completed) completed (\(AmountText.count(thumbnails, "thumbnail"))), "
                + "\(discarded) discarded, \(AmountText.count(retried, "retry", plural: "retries")), "
                + String(format: "%.1f s, %.1f jobs/s", seconds, rate)
        )
        if let unrecorded { throw CommandFailure(unrecorded, .store) }
        guard isDrained else { throw CommandFailure("stopped before the queue was drained", .timedOut) }
        if discarded > 0 {
            throw CommandFailure(
                "\(AmountText.count(discarded, "job")) \(discarded == 1 ? "was" : "were") discarded; `cameo-status jobs --state discarded` shows the reasons",
                .failed
            )
        }
    }
}
