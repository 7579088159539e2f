internal import CLinux
internal import CameoStore
internal import Foundation
internal import Synchronization

/// A connection's patience with the lock of another process. Used by one thread, the connection's.
final class Patience: Sendable {
    /// Milliseconds.
    static let usual: Int64 = {
        #if DEBUG
            // Tests hold the lock for longer than that.
            if let value = getenv("CAMEO_TEST_PATIENCE_MS"), let milliseconds = Int64(String(cString: value)) {
                return milliseconds
            }
        #endif
        return 30_000
    }()

    private let limit = Atomic<Int64>(Patience.usual)
    private let started = Atomic<Int64>(0)
    /// Where the writing connection of a process waits with those of others.
    private let line: WaitingLine?

    init(line: WaitingLine? = nil) {
        self.line = line
    }

    /// SQLite's busy handler: waits a little, unless that has taken too long. `tries` says how many there were in this
    /// wait.
    func lastsAnotherTry(after tries: Int) -> Bool {
        let now = cameo_monotonic_ms()
        if tries == 0 { started.store(now, ordering: .relaxed) }
        guard now - started.load(ordering: .relaxed) < limit.load(ordering: .relaxed) else { return false }
        poll(nil, 0, 1)
        line?.letLongerWaitsPass()
        return true
    }

    func set(milliseconds: Int64) { limit.store(milliseconds, ordering: .relaxed) }
}
