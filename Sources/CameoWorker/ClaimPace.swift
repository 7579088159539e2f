internal import Synchronization

// DESIGN. Every commit of any process wakes every worker that has room, and most commits bring it no job: sixteen workers on
// a busy store would ask for jobs thousands of times a second. So while claims find nothing, a worker rests after each
// commit that it has followed up, up to some milliseconds. The first commit after a silence is followed up at once.

/// How long a worker rests after a commit of another process before it follows up the next one.
final class ClaimPace: Sendable {
    private static let shortest = Duration.milliseconds(2)
    private static let longest = Duration.milliseconds(16)

    private let state = Mutex(Duration.zero)

    var rest: Duration { state.withLock { $0 } }

    /// Records whether a claim has found a job.
    func note(found: Bool) {
        state.withLock { rest in
            rest = found ? .zero : min(Self.longest, max(Self.shortest, rest * 2))
        }
    }
}
