internal import CameoFetch
internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Synchronization

/// The jobs that a worker holds claims of, by claim token.
final class RunningJobs: Sendable {
    private let jobs = Mutex<[String: JobControl]>([:])

    var count: Int { jobs.withLock { $0.count } }

    /// How many of them are jobs of background queues.
    var backgroundCount: Int { jobs.withLock { $0.values.count { $0.job.isBackground } } }

    /// Whether a poison job is running: then no other job is claimed.
    var containsPoisonJob: Bool {
        jobs.withLock { $0.values.contains { $0.job.crashCount >= ClaimKind.poisonAfterCrashes } }
    }

    func insert(_ control: JobControl) {
        jobs.withLock { $0[control.job.claim.token] = control }
    }

    func remove(_ control: JobControl) {
        _ = jobs.withLock { $0.removeValue(forKey: control.job.claim.token) }
    }

    /// How far the downloads of these jobs have come.
    var transfers: [RunningTransfer] {
        let controls = jobs.withLock { Array($0.values) }
        return controls.compactMap { control in
            control.progress.clock.transfer.map { bytes in
                let transfer = JobAttempt.Transfer(receivedBytes: bytes.received, totalBytes: bytes.total)
                return RunningTransfer(token: control.job.claim.token, transfer: transfer)
            }
        }
    }

    func stopAll(_ reason: JobControl.StopReason) {
        for control in jobs.withLock({ Array($0.values) }) { control.stop(reason) }
    }

    /// Stops the jobs that have worked for longer than they may. One look at all of them: a timer for each job would outlive
    /// it, because Swift keeps the timer of a cancelled sleep until its time.
    func stopOverdue() {
        for control in jobs.withLock({ Array($0.values) }) where control.isOverdue { control.stop(.timedOut) }
    }

    /// The tokens held now. Read them before asking the store which tokens are still valid: a job that is claimed in between
    /// must not look lost.
    var tokens: Set<String> { jobs.withLock { Set($0.keys) } }

    /// Stops the jobs whose tokens are in `held` but no longer valid.
    func stop(_ held: Set<String>, notIn valid: Set<String>) {
        let lost = jobs.withLock { jobs in held.subtracting(valid).compactMap { jobs[$0] } }
        for control in lost { control.stop(.claimLost) }
    }
}

/// What is known about an attempt so far. It lives outside the attempt's task, so that a failure can report how far the
/// attempt came.
@dynamicMemberLookup
final class AttemptProgress: Sendable {
    struct State {
        var source: String?
        /// How the source came; nil until it has arrived.
        var arrival: SourceArrival?
        /// The retry settings of the request; nil for the worker's own.
        var retry: RetryOverride?
        var timings = AttemptTimings()
    }

    private let state = Mutex(State())
    let clock = WorkClock()

    subscript<Value: Sendable>(dynamicMember fact: WritableKeyPath<State, Value>) -> Value {
        get { state.withLock { $0[keyPath: fact] } }
        set { state.withLock { $0[keyPath: fact] = newValue } }
    }

    /// Runs a step and records how long it worked, even if it fails.
    func timed<Value: Sendable>(
        _ step: any WritableKeyPath<AttemptTimings, Int?> & Sendable,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let before = clock.worked
        defer { self.timings[keyPath: step] = max(.zero, clock.worked - before).milliseconds }
        return try await body()
    }

    /// Runs the rendering, and records how long it waited for a renderer and how long it worked, even if it fails.
    func timedRendering<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let before = clock.waited
        defer { self.timings.queueMilliseconds = (clock.waited - before).milliseconds }
        return try await timed(\.renderMilliseconds, body)
    }

    /// Records how long the attempt has waited for anything but a renderer, and the processor time that rendering took.
    func noteClock() {
        self.timings.throttledMilliseconds = max(0, clock.waited.milliseconds - (self.timings.queueMilliseconds ?? 0))
        self.timings.cpuMilliseconds = clock.processorTime.map { ($0 + .microseconds(500)).milliseconds }
    }
}
