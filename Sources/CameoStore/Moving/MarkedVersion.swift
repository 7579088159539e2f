/// The version of a store's tables as it is stored: a number that also tells whether the store is closed by a move.
package struct MarkedVersion: Hashable, Sendable {
    /// More than there will ever be versions.
    private static let step = 1_000_000

    package let version: Int
    /// nil if the store is open.
    package let direction: StoreMove.Direction?

    package init(version: Int, direction: StoreMove.Direction?) {
        self.version = version
        self.direction = direction
    }

    package init(stored: Int) {
        switch stored / Self.step {
        case 1: self.init(version: stored % Self.step, direction: .away)
        case 2: self.init(version: stored % Self.step, direction: .here)
        default: self.init(version: stored, direction: nil)
        }
    }

    package var stored: Int {
        switch direction {
        case nil: version
        case .away: Self.step + version
        case .here: 2 * Self.step + version
        }
    }

    /// Whether a closed store is refused to a program that opens it.
    package func isClosed(to purpose: StorePurpose) -> Bool {
        switch (direction, purpose) {
        case (nil, _), (_, .moving), (.away, .reading): false
        case (.away, .writing), (.here, _): true
        }
    }
}
