internal import CameoFetch
internal import CameoModel
internal import Synchronization

/// What is known of an attempt so far; kept outside its task so that a failure can still tell how far it came.
final class AttemptProgress: Sendable {
    private struct State {
        var source: String?
        var arrival: SourceArrival?
        var retry: RetryOverride?
        var timings = AttemptTimings()
    }

    private let state = Mutex(State())
    let clock = WorkClock()

    var source: String? {
        get { state.withLock { $0.source } }
        set { state.withLock { $0.source = newValue } }
    }

    /// Nil until the source is there.
    var arrival: SourceArrival? {
        get { state.withLock { $0.arrival } }
        set { state.withLock { $0.arrival = newValue } }
    }

    /// What the request wishes for the time after a failure.
    var retry: RetryOverride? {
        get { state.withLock { $0.retry } }
        set { state.withLock { $0.retry = newValue } }
    }

    var timings: AttemptTimings {
        get { state.withLock { $0.timings } }
        set { state.withLock { $0.timings = newValue } }
    }

    /// Runs a step and notes how long it worked, also when it fails.
    func timed<Value: Sendable>(
        _ step: any WritableKeyPath<AttemptTimings, Int?> & Sendable,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let before = clock.worked
        defer { timings[keyPath: step] = max(.zero, clock.worked - before).milliseconds }
        return try await body()
    }

    /// Notes for how long it waited, in all.
    func noteWaiting() { timings.waitMilliseconds = clock.waited.milliseconds }
}
