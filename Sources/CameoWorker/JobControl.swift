internal import CameoStore
internal import Synchronization

/// A running job's stop button: pressed at most once, from anywhere, and heard by the task that runs it.
final class JobControl: Sendable {
    /// Why a job was stopped before its end.
    enum StopReason: Sendable {
        /// It takes longer than it may.
        case timedOut
        /// The claim is somebody else's now, or the job was cancelled.
        case claimLost
        /// The worker ends.
        case shutdown
    }

    let job: ClaimedJob
    let claimedAt = ContinuousClock.now
    private let reason = Mutex<StopReason?>(nil)
    private let stops: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init(_ job: ClaimedJob) {
        self.job = job
        (stops, continuation) = AsyncStream.makeStream()
    }

    var stopReason: StopReason? { reason.withLock { $0 } }

    func stop(_ why: StopReason) {
        reason.withLock { $0 = $0 ?? why }
        continuation.finish()
    }

    /// Runs the work; a stop cancels it. To be called once.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask { [stops] in
                for await _ in stops {}
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                guard let value = result else {
                    group.cancelAll()
                    continue
                }
                return value
            }
            throw CancellationError()
        }
    }
}
