internal import CameoModel
internal import CameoStore
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

    /// Runs the work and cancels it when the job is stopped, or was already. To be called once.
    ///
    /// - Returns: what the work returned, even if it did so after a stop.
    /// - Throws: what the work threw.
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
