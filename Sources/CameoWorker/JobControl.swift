package import CameoFetch
package import CameoModel
package import CameoStore
internal import CameoSystem
internal import Synchronization

/// Stops a running job: anybody may ask, and the task that runs the job is cancelled.
final class JobControl: Sendable {
    /// Why a job was stopped before its end.
    enum StopReason: Sendable {
        /// The attempt exceeded its time limit.
        case timedOut
        /// Another worker has the claim now, or the job was cancelled.
        case claimLost
        /// The worker is ending.
        case shutdown
    }

    let job: ClaimedJob
    let claimedAt: ContinuousClock.Instant
    let progress = AttemptProgress()
    private struct State {
        var reason: StopReason?
        /// How long the attempt may have worked when it is stopped; nil: for ever.
        var limit: Duration?
    }

    private let state = Mutex(State())
    private let stops: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init(_ job: ClaimedJob, claimedAt: ContinuousClock.Instant) {
        (self.job, self.claimedAt) = (job, claimedAt)
        (stops, continuation) = AsyncStream.makeStream()
    }

    /// The reason of the first stop; nil while there was none.
    var stopReason: StopReason? { state.withLock { $0.reason } }

    func stop(_ why: StopReason) {
        state.withLock { $0.reason = $0.reason ?? why }
        continuation.finish()
    }

    /// Lets the attempt work for this much longer; what it waits does not count.
    func limit(to work: Duration) {
        let limit = progress.clock.worked + work
        state.withLock { $0.limit = limit }
    }

    /// Whether the attempt has worked for longer than it may.
    var isOverdue: Bool { state.withLock { $0.limit }.map { $0 < progress.clock.worked } ?? false }

    /// Runs the work and cancels it when the job is stopped, or was already. Returns what the work returned, even if it did so
    /// after a stop. To be called once.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask { [stops] in
                for await _ in stops {}
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let value = result { return value }
                group.cancelAll()
            }
            throw CancellationError()
        }
    }
}

/// The outcome of one attempt, for the log and the progress report.
package struct JobOutcome: Sendable {
    /// How an attempt ended.
    package enum Kind: Sendable {
        /// The store recorded the end; if the job waits until a time, so long.
        case recorded(AttemptEnd, wait: Duration = .zero)
        /// The job was cancelled instead of waiting again: another job was already waiting for the same thumbnails.
        case superseded(by: Int64)
        /// The job was cancelled, or another worker has it: nothing was recorded.
        case leaseLost
        /// The store refused to record the outcome. The next worker will run the job again.
        case unrecorded(reason: String)
    }

    package let jobID: Int64
    package let source: String?
    package let queue: String
    package let attempt: Int
    package let kind: Kind
    package let timings: AttemptTimings
    /// How the source came; nil if it did not.
    package let arrival: SourceArrival?
}

extension JobOutcome {
    /// The outcome of a job that was discarded because too many workers died while they ran it, or because its request was
    /// refused.
    init(lost job: LostJob) {
        self.init(
            jobID: job.id,
            source: job.source,
            queue: job.queue,
            attempt: job.attempt,
            kind: .recorded(.discard(job.failure)),
            timings: AttemptTimings(),
            arrival: nil
        )
    }
}
