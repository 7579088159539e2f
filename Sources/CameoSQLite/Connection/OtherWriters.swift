internal import CLinux
internal import CameoStore
internal import GRDB
internal import Synchronization

/// Whether other programs write to the store too. Used by one thread, that of the writing connection.
final class OtherWriters: Sendable {
    /// Milliseconds for which one that has written may come back.
    private static let memory: Int64 = 5_000
    /// Milliseconds that others are left at a time, at most.
    private static let longestRest: Int64 = 25

    private struct State {
        var version: Int?
        var seenAt: Int64?
    }

    private let state = Mutex(State())

    /// Looks whether the database has changed by another connection's commit. Costs microseconds.
    func look(_ db: Database) {
        guard let statement = try? db.cachedStatement(sql: "PRAGMA data_version"),
            let version = try? Int.fetchOne(statement)
        else { return }
        state.withLock { state in
            if let before = state.version, before != version { state.seenAt = cameo_monotonic_ms() }
            state.version = version
        }
    }

    /// Milliseconds to leave the lock alone after having held it for some.
    func rest(after held: Int64) -> Int64 {
        let isShared = state.withLock { $0.seenAt.map { cameo_monotonic_ms() - $0 < Self.memory } ?? false }
        return isShared ? min(max(held / 2, 1), Self.longestRest) : 0
    }
}
