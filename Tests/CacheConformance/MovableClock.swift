package import Foundation
internal import Synchronization

/// A wall clock that stands still until a test moves it.
package final class MovableClock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_900_000_000))

    package init() {}

    package var now: @Sendable () -> Date { { self.time.withLock { $0 } } }

    package func advance(_ seconds: Double) {
        time.withLock { $0 += seconds }
    }
}
