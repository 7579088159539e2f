internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Synchronization

/// Where a worker stands between its start and its end; shared by its loop, its jobs and the shutdown.
@dynamicMemberLookup
final class WorkerPhase: Sendable {
    struct State {
        /// Whether the worker claims nothing more.
        fileprivate(set) var isStopping = false
        fileprivate var giveBackAt: ContinuousClock.Instant?
        /// Why the end of an attempt could not be recorded; nil unless that happened.
        var unrecorded: String?
        fileprivate var failingSince: ContinuousClock.Instant?
        fileprivate var lastRefusal: String?
        /// When a reason of the last minute was logged.
        fileprivate var loggedRefusals: [String: ContinuousClock.Instant] = [:]
        /// The ends of attempts that the store has refused and that are tried again, by the tokens of their claims.
        fileprivate var refusedEnds: [String: (since: ContinuousClock.Instant, reason: String)] = [:]
        /// The last refusal for good whose job was given back.
        fileprivate(set) var refusal: Refusal?
        /// The last removal of what has expired that failed.
        fileprivate var removal: Refusal?
        fileprivate var loggedTrouble: String?
        /// Whether a drain has found nothing left to do.
        var hasDrained = false
        /// Why the store is not there any more: its folder or database was removed or replaced under the worker.
        var lostStore: StoreError?
        /// Why the worker retired; nil unless it did.
        fileprivate(set) var retirement: StoreError?
        /// Whether a poison job has waited so long that it goes before all others. Looked up now and then, because the
        /// claim of every job would pay for it.
        var hasOverduePoisonJob = false
        /// Whether pictures that came by SQL wait to be read.
        var hasUploads = false
        fileprivate var look: (at: ContinuousClock.Instant, used: Duration)?
        fileprivate var thawedAt: ContinuousClock.Instant?
    }

    struct Refusal {
        let since: ContinuousClock.Instant
        let reason: String
        /// Until when it counts, unless there is another.
        let until: ContinuousClock.Instant
        /// Whether what was refused is tried again in an hour.
        let isPutOff: Bool
    }

    private let state = Mutex(State())
    private let time: WorkerTime

    init(time: WorkerTime) {
        self.time = time
    }

    subscript<Value: Sendable>(dynamicMember fact: KeyPath<State, Value>) -> Value {
        state.withLock { $0[keyPath: fact] }
    }

    subscript<Value: Sendable>(dynamicMember fact: WritableKeyPath<State, Value>) -> Value {
        get { state.withLock { $0[keyPath: fact] } }
        set { state.withLock { $0[keyPath: fact] = newValue } }
    }

    /// How long nothing of a process runs before it counts as frozen.
    private static let stillness = Duration.seconds(2)

    /// Looks whether the process has just stood still: it was stopped by a signal, frozen with its container, or suspended
    /// with its machine. To be called much more often than every two seconds.
    func look() {
        let look = (at: time.now(), used: time.used())
        state.withLock { state in
            if let last = state.look {
                let gap = last.at.duration(to: look.at)
                // A process that only had to wait for its turn, or for the store, has used some time of the processor.
                if gap > Self.stillness, look.used - last.used < gap / 20 { state.thawedAt = look.at }
            }
            state.look = look
        }
    }

    /// Whether the process stood still for a while since a time. What then took too long may be nobody's fault.
    func stoodStill(since begun: ContinuousClock.Instant) -> Bool {
        look()
        return state.withLock { $0.thawedAt.map { $0 >= begun } ?? false }
    }

    /// Ends the claiming. Jobs that still run after `grace` are to be given back; with nil they may run to their end. If
    /// called repeatedly, the earliest deadline wins.
    ///
    /// - Returns: false if the call changed nothing.
    @discardableResult
    func stop(grace: Duration?) -> Bool {
        state.withLock { state in
            let giveBackAt = grace.map { self.time.now() + $0 }
            let isSooner = giveBackAt.map { $0 < state.giveBackAt ?? $0 + .seconds(1) } ?? false
            if isSooner { state.giveBackAt = giveBackAt }
            defer { state.isStopping = true }
            return isSooner || !state.isStopping
        }
    }

    /// Ends the claiming because the store has become a newer version's.
    ///
    /// - Returns: false if the worker is already ending.
    func retire(_ reason: StoreError, grace: Duration) -> Bool {
        let isNews = state.withLock { state in
            guard !state.isStopping else { return false }
            defer { state.retirement = reason }
            return state.retirement == nil
        }
        if isNews { stop(grace: grace) }
        return isNews
    }

    /// Whether the grace is over and jobs that still run are to be given back.
    var mustGiveBack: Bool { state.withLock { $0.giveBackAt.map { $0 <= self.time.now() } ?? false } }

    /// Notes that the store refused a call. Returns how long it has done so, and whether the message is to be logged: once a
    /// minute for each reason, since on a full disk the sweeps fail four times a second, and the claims between them succeed.
    func storeRefused(_ reason: String, _ message: String) -> (lasting: Duration, isNews: Bool) {
        state.withLock { state in
            let now = self.time.now()
            let since = state.failingSince ?? now
            (state.failingSince, state.lastRefusal) = (since, reason)
            state.loggedRefusals = state.loggedRefusals.filter { $0.value.duration(to: now) < Self.memory }
            let isNews = state.loggedRefusals[message + reason] == nil
            if isNews { state.loggedRefusals[message + reason] = now }
            return (since.duration(to: now), isNews)
        }
    }

    /// Notes that the store has not taken the end of an attempt, which is tried again; nil: not any more.
    func refusedEnd(of claim: Claim, _ reason: String?) {
        state.withLock { state in
            let since = state.refusedEnds[claim.token]?.since ?? self.time.now()
            state.refusedEnds[claim.token] = reason.map { (since, $0) }
        }
    }

    /// Notes that the store refused for good what came of an attempt, whose job was given back. That counts as trouble until
    /// a minute has passed without another: longer than such a job rests.
    func refusedForGood(_ reason: String) { note(reason, in: \.refusal, for: Self.memory) }

    /// Notes that what has expired could not be removed, which counts so long unless it happens again, or it succeeds. What is
    /// put off is tried again in an hour, and counts for that, too.
    func removalFailed(_ reason: String, for memory: Duration, isPutOff: Bool) {
        note(reason, in: \.removal, for: memory + .seconds(isPutOff ? 3_600 : 0), isPutOff: isPutOff)
    }

    func removalSucceeded() {
        state.withLock { if $0.removal?.isPutOff == false { $0.removal = nil } }
    }

    private func note(
        _ reason: String,
        in place: any WritableKeyPath<State, Refusal?> & Sendable,
        for memory: Duration,
        isPutOff: Bool = false
    ) {
        let now = time.now()
        state.withLock { state in
            let last = state[keyPath: place].flatMap { $0.until > now ? $0 : nil }
            let since = last?.since ?? now
            state[keyPath: place] = Refusal(since: since, reason: reason, until: now + memory, isPutOff: isPutOff)
        }
    }

    /// What has kept the worker from claiming, or from recording ends, for longer than a moment; else from removing what has
    /// expired.
    func trouble(at now: Date) -> StatusReport.Worker.Trouble? {
        let instant = time.now()
        let (all, removal) = state.withLock { state in
            let claims = state.failingSince.map { (since: $0, reason: state.lastRefusal ?? "") }
            let refusal = state.refusal.flatMap { $0.until > instant ? (since: $0.since, reason: $0.reason) : nil }
            let removal = state.removal.flatMap { $0.until > instant ? $0 : nil }
            return (Array(state.refusedEnds.values) + [claims, refusal].compactMap(\.self), removal)
        }
        if let first = all.min(by: { $0.since < $1.since }), first.since.duration(to: instant) >= Self.moment {
            return .init(reason: first.reason, since: now - first.since.duration(to: instant).seconds)
        }
        return removal.map { removal in
            let since = now - removal.since.duration(to: instant).seconds
            return .init(reason: removal.reason, since: since, blocksJobs: false)
        }
    }

    private static let moment = Duration.seconds(3)
    /// How long trouble counts as the same if it comes back.
    private static let memory = Duration.seconds(60)

    /// Whether trouble, or its reason, is other than at the last call.
    func isNews(_ trouble: StatusReport.Worker.Trouble?) -> Bool {
        state.withLock { state in
            defer { state.loggedTrouble = trouble?.reason }
            return state.loggedTrouble != trouble?.reason
        }
    }

    /// Notes that the store took a call: its trouble, if there was any, is over.
    func storeAnswered() {
        state.withLock { ($0.failingSince, $0.lastRefusal) = (nil, nil) }
    }
}
