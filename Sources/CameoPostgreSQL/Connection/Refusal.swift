internal import CameoStore

/// Why writes are refused.
struct Refusal: Sendable {
    let error: StoreError
    /// Whether a move has closed the store; else a newer program has migrated the tables, or they are another store's.
    var isClosed = false

    func concerns(_ phase: WritePhase) -> Bool {
        switch phase {
        case .new, .claim: true
        case .begun: isClosed
        case .moving: !isClosed
        }
    }
}
