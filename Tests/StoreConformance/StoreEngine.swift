package import CameoStore
package import Foundation
internal import Synchronization

/// An engine, as the conformance suite knows it: something that makes stores.
package protocol StoreEngine: Sendable {
    /// A store that nobody else has, by a clock that the test sets.
    func makeStore(clock: ConformanceClock) async throws -> any Store
    /// The same store, as another process opens it.
    func another(_ store: any Store, clock: ConformanceClock) async throws -> any Store
    /// Lets go of a worker's presence, as the death of its process does.
    func kill(_ worker: String, in store: any Store) async throws
}

/// Times that stand still until a test moves them.
package final class ConformanceClock: Sendable {
    private struct Times {
        var now = Date(timeIntervalSince1970: 1_900_000_000)
        var uptime: Int64 = 1_000_000
    }

    private let times = Mutex(Times())

    package init() {}

    package func advance(seconds: Double) {
        times.withLock { times in
            times.now += seconds
            times.uptime += Int64(seconds * 1_000)
        }
    }

    package var now: Date { times.withLock { $0.now } }

    package var storeClock: StoreClock {
        StoreClock(now: { self.now }, uptime: { self.times.withLock { $0.uptime } })
    }
}
