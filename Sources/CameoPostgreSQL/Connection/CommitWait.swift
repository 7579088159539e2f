internal import CameoQueue
internal import Synchronization

// DESIGN. A commit that waits for a synchronous standby stands on this server already. A cancelled wait would only show it
// to others before the standby has it, so nothing here cancels one, or asks the server to: the connection goes on waiting,
// as long as it takes. But whoever called learns after a moment why, which another connection asks the server, and after
// half a minute that the outcome is not known; and what waits behind such a commit, that it has not begun.

/// Why the commits of this process get no answer, and how long those who called wait for one.
final class CommitWaits: Sendable {
    /// How long a commit may take before anybody wonders.
    static let moment = Duration.seconds(3)
    /// As long as a statement waits for a lock.
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

/// One commit that the server has not answered.
struct CommitWatch {
    let since = ContinuousClock.now
    private var nextLook: ContinuousClock.Instant
    /// Empty: there is none to tell.
    private(set) var reason = ""
    /// Whether it may be waited for without end.
    private(set) var mayTakeLong = true

    init() { nextLook = since + CommitWaits.moment }

    /// Asks the server every few seconds what its process is waiting for.
    mutating func look(at process: Int64?, of url: DatabaseURL) {
        guard nextLook <= .now else { return }
        defer { nextLook = .now + .seconds(5) }
        let unknown = "a commit has had no answer for some seconds, and why is not known:"
        do {
            let look = "SELECT coalesce(wait_event, '') FROM pg_stat_activity WHERE pid = $1 AND state = 'active'"
            let row = try Connection(url, within: .seconds(2)).run(look, [process]).rows.first
            let event: String? = try row?[0]
            mayTakeLong = event == "SyncRep"
            reason =
                switch event {
                case "SyncRep"?:
                    "a commit waits for a synchronous standby (SyncRep): it stands on \(url.location), and goes on waiting"
                // It is at work, or waits for a lock or the disk.
                case .some: ""
                case nil: "\(unknown) its process is not seen, as behind a pooler"
                }
        } catch {
            mayTakeLong = false
            reason = "\(unknown) there is no other connection, perhaps through a pooler: \(error)"
        }
    }
}
