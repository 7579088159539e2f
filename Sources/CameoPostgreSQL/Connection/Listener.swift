internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Synchronization

// DESIGN. A commit that gives workers something to do says so by NOTIFY, once a group: it takes a lock of the whole
// cluster at its commit. A connection of its own listens; if it is lost, another one is made and listens anew, and those
// who wait are woken, because something may have been missed. Through a pooler in transaction mode it is not tried: LISTEN
// would register a server's process that the next transaction of another client uses. For what is not told, streams look
// at the store's version at an interval.

/// Wakes those who wait for other processes' commits.
final class Listener: Sendable {
    /// The channel on which commits tell of new work.
    static func channel(schema: String) -> String { "\(schema).work" }

    private struct State {
        var wakers: [Int: @Sendable () -> Void] = [:]
        var next = 0
        var isRunning = false
        /// Whether a pooler answered.
        var isPooled = false
        /// Whether commits that leave something to do are told.
        var isListening = false
    }

    private let url: DatabaseURL
    private let state = Mutex(State())

    init(_ url: DatabaseURL) { self.url = url }

    /// Calls `wake` after commits until ``remove(_:)`` is called with the result. Must be quick.
    func add(_ wake: @escaping @Sendable () -> Void) -> Int {
        let (number, mustStart) = state.withLock { state in
            let mustStart = !state.isRunning && !state.isPooled
            defer { (state.next, state.isRunning) = (state.next + 1, state.isRunning || mustStart) }
            state.wakers[state.next] = wake
            return (state.next, mustStart)
        }
        // It blocks most of the time. Without a thread, the interval of the streams stands in.
        if mustStart, (try? BlockingThread.start("cameo-listen") { self.run() }) == nil {
            state.withLock { $0.isRunning = false }
        }
        return number
    }

    func remove(_ number: Int) { _ = state.withLock { $0.wakers.removeValue(forKey: number) } }

    /// Whether commits are found by the interval of the streams alone.
    var isPooled: Bool { state.withLock { $0.isPooled } }
    /// Whether those who wait are told of all commits that leave something to do from now on.
    var isListening: Bool { state.withLock { $0.isListening } }

    /// Listens until nobody waits any more, unless through a pooler.
    private func run() {
        var failures = 0
        while true {
            do {
                let connection = try Connection(url)
                guard !connection.isPooled else {
                    state.withLock { ($0.isPooled, $0.isRunning) = (true, false) }
                    return
                }
                try connection.run("LISTEN \"\(Self.channel(schema: url.schema))\"")
                failures = 0
                state.withLock { $0.isListening = true }
                defer { state.withLock { $0.isListening = false } }
                wakeAll()
                while true {
                    if isDone { return }
                    var notifications = PollSet(connection.descriptor)
                    if notifications.wait(milliseconds: 500), try connection.takeNotifications() > 0 { wakeAll() }
                }
            } catch {
                // The interval of the streams stands in until it succeeds.
                if isDone { return }
                failures += 1
                RetryPolicy.reconnecting.wait(afterFailures: failures)
            }
        }
    }

    private var isDone: Bool {
        state.withLock { state in
            if state.wakers.isEmpty { state.isRunning = false }
            return !state.isRunning
        }
    }

    private func wakeAll() {
        for wake in state.withLock({ Array($0.wakers.values) }) { wake() }
    }
}
