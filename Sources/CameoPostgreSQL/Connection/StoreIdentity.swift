internal import CameoStore
internal import Synchronization

/// What transactions learn of the store they are in.
final class StoreIdentity: Sendable {
    private struct State {
        var identity: String?
        var isInPlace = true
    }

    private let state = Mutex(State())

    /// Whether the schema still has the tables that it had when the store was opened.
    var isInPlace: Bool { state.withLock { $0.isInPlace } }

    /// Compares the tables with those of the first transaction.
    ///
    /// - Returns: why nothing more must be started: a newer program has migrated the tables, or they are another store's.
    @discardableResult
    func note(_ opening: Opening, _ url: DatabaseURL) -> StoreError? {
        let isInPlace = state.withLock { state in
            if state.identity == nil { state.identity = opening.identity }
            state.isInPlace = state.identity == opening.identity
            return state.isInPlace
        }
        guard isInPlace else {
            return .cannotOpen(path: url.location, reason: "another store has taken its place")
        }
        return Schema.refusal(of: opening.version, url)
    }
}
