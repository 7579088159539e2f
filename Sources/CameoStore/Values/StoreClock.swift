internal import CLinux
package import CameoModel
package import Foundation

/// The two clocks of a store, passed in so that tests can set them.
package struct StoreClock: Sendable {
    /// Wall-clock time, for times that people read and choose.
    package var now: @Sendable () -> Date
    /// Milliseconds that the machine has been awake since its start. Leases use them because they never jump.
    package var uptime: @Sendable () -> Int64

    package init(now: @escaping @Sendable () -> Date, uptime: @escaping @Sendable () -> Int64) {
        self.now = now
        self.uptime = uptime
    }

    package static let system = StoreClock(now: { Date() }, uptime: { cameo_monotonic_ms() })
}

extension Date {
    /// Whole milliseconds since 1970, the form in which the tables keep times.
    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    package var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1_000).rounded()) }
}

/// URIs that have been read but not yet recorded.
package struct PendingReadings {
    /// What the caller must do after adding a name.
    package enum Action {
        case recordSoon
        /// A write is already scheduled.
        case nothing
    }

    package private(set) var names: Set<CameoURI> = []
    /// The last task that records names; each waits for the one before.
    private var writing: Task<Void, Never>?

    package init() {}

    package mutating func add(_ name: CameoURI) -> Action {
        defer { names.insert(name) }
        return names.isEmpty ? .recordSoon : .nothing
    }

    /// Starts recording all names, after those that are already being recorded.
    package mutating func takeAll(_ write: @escaping @Sendable (Set<CameoURI>) async -> Void) -> Task<Void, Never> {
        let (taken, before) = (names, writing)
        names = []
        let task = Task(priority: .utility) {
            await before?.value
            await write(taken)
        }
        writing = task
        return task
    }
}
