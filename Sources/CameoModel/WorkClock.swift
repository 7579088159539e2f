internal import Synchronization

// DESIGN. Time limits count work. Whatever an attempt has to wait for before it can go on (a renderer, its host's place, a
// place to transfer in, room in memory) is noted here by whoever lets it wait, and counted apart. A download that several
// attempts share has a clock of its own, which theirs follow for as long as they want it.

/// Counts the time of one attempt, its work and its waiting apart.
package final class WorkClock: Sendable {
    private struct State {
        /// What is waited for now.
        var waits = 0
        var waitingSince = ContinuousClock.now
        /// By waits that are over.
        var waited = Duration.zero
        /// A clock whose waiting counts here too, and how long it had waited before.
        var followed: (clock: WorkClock, from: Duration)?

        func total(at now: ContinuousClock.Instant) -> Duration {
            waited + (waits > 0 ? waitingSince.duration(to: now) : .zero)
                + (followed.map { $0.clock.waited(at: now) - $0.from } ?? .zero)
        }
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())
    /// How often one that waits is looked at, at least.
    private static let lookInterval = Duration.milliseconds(250)

    package init() {}

    package var waited: Duration { waited(at: .now) }

    package var worked: Duration {
        let now = ContinuousClock.now
        return start.duration(to: now) - waited(at: now)
    }

    private func waited(at now: ContinuousClock.Instant) -> Duration { state.withLock { $0.total(at: now) } }

    package func beginWait() {
        state.withLock { state in
            if state.waits == 0 { state.waitingSince = .now }
            state.waits += 1
        }
    }

    package func endWait() {
        state.withLock { state in
            state.waits -= 1
            if state.waits == 0 { state.waited += state.waitingSince.duration(to: .now) }
        }
    }

    /// Takes the waiting of another clock for its own, from now on; nil: of none any more.
    package func follow(_ other: WorkClock?) {
        state.withLock { state in
            state.waited += state.followed.map { $0.clock.waited - $0.from } ?? .zero
            state.followed = other.map { ($0, $0.waited) }
        }
    }

    /// Returns when so much was worked from now on.
    ///
    /// - Throws: `CancellationError`.
    package func sleep(untilWorked limit: Duration) async throws {
        let end = worked + limit
        while true {
            let left = end - worked
            guard left > .zero else { return }
            let isWaiting = state.withLock { $0.waits > 0 || $0.followed != nil }
            try await Task.sleep(for: isWaiting ? max(left, Self.lookInterval) : left)
        }
    }
}
