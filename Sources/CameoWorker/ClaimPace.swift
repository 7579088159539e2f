internal import Synchronization

// DESIGN. Every commit of any process could wake every worker: sixteen workers on a busy store would look and ask for jobs
// thousands of times a second. So a worker looks rarely while it need not be woken, because its own jobs wake it, and
// while it asks in vain. The first commit after a silence is followed up at once.

/// How long a worker rests after a commit of another process before it follows up the next one.
final class ClaimPace: Sendable {
    private static let shortest = Duration.milliseconds(2)
    private static let longest = Duration.milliseconds(16)

    private let state = Mutex((rest: shortest, isFull: false))

    var rest: Duration { state.withLock { $0.isFull ? Self.longest : $0.rest } }

    /// Records how many jobs a claim has found, and for how many there was room.
    func note(found: Int, room: Int) {
        state.withLock { state in
            state.isFull = found >= room
            state.rest = found > 0 ? Self.shortest : min(Self.longest, state.rest * 2)
        }
    }
}
