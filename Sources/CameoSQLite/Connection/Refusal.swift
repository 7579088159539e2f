internal import CameoStore

/// Why writes are refused.
struct Refusal: Sendable {
    let error: StoreError
    /// Whether a move has closed the store; else a newer program has migrated the tables.
    let isClosed: Bool

    func concerns(_ phase: WritePhase) -> Bool {
        switch phase {
        case .new: true
        case .begun: isClosed
        case .moving: !isClosed
        }
    }
}
