internal import CameoFetch
internal import CameoModel
internal import Synchronization

/// What is known about an attempt so far. It lives outside the attempt's task, so that a failure can report how far the
/// attempt came.
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

    /// How the source came; nil until it has arrived.
    var arrival: SourceArrival? {
        get { state.withLock { $0.arrival } }
        set { state.withLock { $0.arrival = newValue } }
    }

    /// The retry settings of the request; nil for the worker's own.
    var retry: RetryOverride? {
        get { state.withLock { $0.retry } }
        set { state.withLock { $0.retry = newValue } }
    }

    var timings: AttemptTimings {
        get { state.withLock { $0.timings } }
        set { state.withLock { $0.timings = newValue } }
    }

    /// Runs a step and records how long it worked, even if it fails.
    func timed<Value: Sendable>(
        _ step: any WritableKeyPath<AttemptTimings, Int?> & Sendable,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let before = clock.worked
        defer { timings[keyPath: step] = max(.zero, clock.worked - before).milliseconds }
        return try await body()
    }

    /// Runs the rendering, and records how long it waited for a renderer and how long it worked, even if it fails.
    func timedRendering<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let before = clock.waited
        defer { timings.queueMilliseconds = (clock.waited - before).milliseconds }
        return try await timed(\.renderMilliseconds, body)
    }

    /// Records how long the attempt has waited for anything but a renderer.
    func noteWaiting() {
        timings.throttledMilliseconds = max(0, clock.waited.milliseconds - (timings.queueMilliseconds ?? 0))
    }
}
