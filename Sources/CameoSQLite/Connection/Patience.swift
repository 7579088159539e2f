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

    private let limit = Atomic<Int64>(Patience.usual)
    private let started = Atomic<Int64>(0)
    /// The line in which the writing connections of all processes wait.
    private let line: WaitingLine?

    init(line: WaitingLine? = nil) {
        self.line = line
    }

    /// SQLite's busy handler: waits briefly, or returns false if the limit is reached. `tries` counts the tries of this
    /// wait.
    func lastsAnotherTry(after tries: Int) -> Bool {
        let now = cameo_monotonic_ms()
        if tries == 0 { started.store(now, ordering: .relaxed) }
        guard now - started.load(ordering: .relaxed) < limit.load(ordering: .relaxed) else { return false }
        poll(nil, 0, 1)
        line?.yieldToLongerWaits()
        return true
    }

    func set(milliseconds: Int64) { limit.store(milliseconds, ordering: .relaxed) }
}
