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
        var completed = 0
        var thumbnails = 0
        var discarded = 0
        var retried = 0
        /// Why the first outcome that could not be recorded was not.
        var unrecorded: String?
    }

    private let state = Mutex(State())
    private let started = ContinuousClock.now
    private let total: Int
    private let progress: ProgressBar?

    /// `total` is the number of jobs that wait at the beginning; more may arrive.
    init(of total: Int, showsProgress: Bool) {
        self.total = total
        progress = showsProgress ? ProgressBar() : nil
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
            case .unrecorded(let reason): state.unrecorded = state.unrecorded ?? reason
            }
            let done = state.completed + state.discarded
            let note = state.discarded > 0 ? "\(state.discarded) discarded" : ""
            progress?.show(done: done, of: max(total, done), note: note)
        }
    }

    /// Prints the summary.
    ///
    /// - Throws: ``CommandFailure`` if a job was discarded, or if its outcome could not be recorded.
    func finish(isDrained: Bool) throws {
        progress?.finish()
        let end = state.withLock { $0 }
        let seconds = started.duration(to: .now).seconds
        let rate = seconds > 0 ? Double(end.completed + end.discarded) / seconds : 0
        let thumbnails = AmountText.count(end.thumbnails, "thumbnail")
        Output.line(
            "\(isDrained ? "drained" : "stopped"): \(end.completed) completed (\(thumbnails)), "
                + "\(end.discarded) discarded, \(AmountText.count(end.retried, "retry", plural: "retries")), "
                + String(format: "%.1f s, %.1f jobs/s", seconds, rate)
        )
        if let reason = end.unrecorded { throw CommandFailure(reason, .store) }
        guard isDrained else { throw CommandFailure("stopped before the queue was drained", .timedOut) }
        if end.discarded > 0 {
            throw CommandFailure(
                "\(AmountText.count(end.discarded, "job")) \(end.discarded == 1 ? "was" : "were") discarded; `cameo-status jobs --state discarded` shows the reasons",
                .failed
            )
        }
    }
}
