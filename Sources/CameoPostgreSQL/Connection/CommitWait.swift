internal import CameoQueue
internal import Synchronization

// DESIGN. A commit that waits for a synchronous standby stands on this server already. A cancelled wait would only show it
// to others before the standby has it, so nothing here cancels one, or asks the server to: the connection goes on waiting,
// as long as it takes. But whoever called learns after a moment why, which another connection asks the server, and after
// half a minute that the outcome is not known; and who waits behind such a commit, for a lock that it holds or because its own
// has not begun, that nothing was written.

/// Why the commits of this process get no answer, and how long those who called wait for one.
final class CommitWaits: Sendable {
    /// How long a commit may take before anybody wonders.
    static let moment = Duration.seconds(3)
    /// Longer than a transaction waits for a lock.
    private static let limit = Duration.seconds(30)

    private struct State {
        var tell: (@Sendable (String) -> Void)?
        /// The reasons, by who commits.
        var reasons: [ObjectIdentifier: String] = [:]
        var end: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    var reason: String? { state.withLock { $0.reasons.values.min() } }

    func onNews(_ tell: @escaping @Sendable (String) -> Void) { state.withLock { $0.tell = tell } }

    /// Lets nobody wait any more from then on.
    func end(within grace: Duration) {
        state.withLock { $0.end = min($0.end ?? .now + grace, .now + grace) }
    }

    /// Whether whoever has waited since then is told.
    func isOver(since start: ContinuousClock.Instant) -> Bool {
        let (end, now) = (state.withLock { $0.end }, ContinuousClock.now)
        return start + Self.limit <= now || end.map { $0 <= now && start + .seconds(1) <= now } ?? false
    }

    func note(_ reason: String?, of queue: CommitQueue) {
        let tell = state.withLock { state in
            defer { state.reasons[ObjectIdentifier(queue)] = reason }
            return state.reasons.values.contains { $0 == reason } ? nil : state.tell
        }
        if let reason { tell?(reason) }
    }
}

/// One group of writes, from its first attempt, which the server may leave without an answer.
final class CommitWatch {
    /// The server's process; nil: not known, behind a pooler.
    var process: Int64?
    /// Whether COMMIT was sent.
    var isSent = false
    /// Tells all who wait for the group.
    let fail: (any Error) -> Void
    let since = ContinuousClock.now
    private var nextLook = ContinuousClock.now + CommitWaits.moment
    /// Empty: there is none to tell.
    private(set) var reason = ""
    /// Whether it may be waited for without end.
    private(set) var mayTakeLong = true

    init(fail: @escaping (any Error) -> Void) { self.fail = fail }

    /// Asks the server every few seconds what its process is waiting for.
    func look(at url: DatabaseURL) {
        guard nextLook <= .now else { return }
        defer { nextLook = .now + .seconds(5) }
        let unknown = "a commit has had no answer for some seconds, and why is not known:"
        do {
            let look = """
                SELECT wait_event IS NOT DISTINCT FROM 'SyncRep' AS is_own, wait_event_type IS NOT DISTINCT FROM 'Lock' AND EXISTS (
                  SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()) AS is_anothers
                FROM pg_stat_activity WHERE pid = $1 AND state = 'active'
                """
            let row = try Connection(url, within: .seconds(2)).run(look, [process]).rows.first
            mayTakeLong = try row?["is_own"] == true
            let waits = "a commit waits for a synchronous standby (SyncRep):"
            reason =
                try mayTakeLong
                ? "\(waits) it stands on \(url.location) and waits on"
                : row?["is_anothers"] == true
                    ? "\(waits) that of another process, which holds a lock on \(url.location)"
                    : row == nil && isSent ? "\(unknown) its process is not seen, as behind a pooler" : ""
        } catch {
            mayTakeLong = false
            reason = isSent ? "\(unknown) there is no other connection, perhaps through a pooler: \(error)" : ""
        }
    }
}
