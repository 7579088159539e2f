internal import CLinux
internal import CameoStore
internal import Foundation
internal import Synchronization

/// How long a connection waits for another process's lock. Used only by the connection's thread.
final class Patience: Sendable {
    /// The usual limit in milliseconds.
    static let usual: Int64 = {
        #if DEBUG
            // Tests hold the lock longer than a connection should wait.
            if let value = getenv("CAMEO_TEST_PATIENCE_MS"), let milliseconds = Int64(String(cString: value)) {
                return milliseconds
            }
        #endif
        return 30_000
    }()

    /// What a try counts at most, in milliseconds. A try takes less, unless the machine or the process stood still: then
    /// the process that has the lock could not release it either.
    static let longestTry: Int64 = 1_000

    private let limit = Atomic<Int64>(Patience.usual)
    /// How long this wait has lasted, and when that was counted last.
    private let waited = Atomic<Int64>(0)
    private let counted = Atomic<Int64>(0)
    /// The line in which the writing connections of all processes wait.
    private let line: WaitingLine?

    init(line: WaitingLine? = nil) {
        self.line = line
    }

    /// SQLite's busy handler: waits briefly, or returns false if the limit is reached. `tries` counts the tries of this
    /// wait.
    func lastsAnotherTry(after tries: Int) -> Bool {
        guard isWithinLimit(tries: tries, at: cameo_monotonic_ms()) else { return false }
        poll(nil, 0, 1)
        line?.yieldToLongerWaits()
        return true
    }

    /// Whether the wait may go on after this many tries. `now` is in milliseconds of the monotonic clock.
    func isWithinLimit(tries: Int, at now: Int64) -> Bool {
        let sinceLastTry = now - counted.exchange(now, ordering: .relaxed)
        let total = tries == 0 ? 0 : waited.load(ordering: .relaxed) + min(sinceLastTry, Self.longestTry)
        waited.store(total, ordering: .relaxed)
        return total < limit.load(ordering: .relaxed)
    }

    func set(milliseconds: Int64) { limit.store(milliseconds, ordering: .relaxed) }
}
