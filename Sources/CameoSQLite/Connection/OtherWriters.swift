internal import CLinux
internal import CameoStore
internal import GRDB
internal import Synchronization

/// Detects whether other programs write to the store. Used only by the writing connection's thread.
final class OtherWriters: Sendable {
    /// How long a writer is expected to come back, in milliseconds.
    private static let memory: Int64 = 5_000
    /// The longest pause left to others, in milliseconds.
    private static let longestRest: Int64 = 25

    private struct State {
        var version: Int?
        var seenAt: Int64?
    }

    private let state = Mutex(State())

    /// Checks whether another connection has committed. Costs microseconds.
    func look(_ db: Database) {
        guard let statement = try? db.cachedStatement(sql: "PRAGMA data_version"),
            let version = try? Int.fetchOne(statement)
        else { return }
        state.withLock { state in
            if let before = state.version, before != version { state.seenAt = cameo_monotonic_ms() }
            state.version = version
        }
    }

    /// How long to leave the lock free after holding it for `held` milliseconds.
    func rest(after held: Int64) -> Int64 {
        let isShared = state.withLock { $0.seenAt.map { cameo_monotonic_ms() - $0 < Self.memory } ?? false }
        return isShared ? min(max(held / 2, 1), Self.longestRest) : 0
    }
}
