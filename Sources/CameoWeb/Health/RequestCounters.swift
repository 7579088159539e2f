internal import Synchronization

/// Counts of the requests answered since the server started.
final class RequestCounters: Sendable {
    struct Key: Hashable, Sendable {
        let route: Route
        let status: Int
    }

    struct Counts: Sendable {
        var requests = 0
        /// The bytes of the response bodies.
        var bytes = 0
    }

    private let counts = Mutex<[Key: Counts]>([:])

    func count(_ route: Route, _ status: Int, bytes: Int) {
        counts.withLock { counts in
            counts[Key(route: route, status: status), default: Counts()].requests += 1
            counts[Key(route: route, status: status), default: Counts()].bytes += bytes
        }
    }

    /// All counts, sorted by route and status.
    var all: [(key: Key, counts: Counts)] {
        counts.withLock { counts in counts.map { ($0.key, $0.value) } }
            .sorted { ($0.key.route.rawValue, $0.key.status) < ($1.key.route.rawValue, $1.key.status) }
    }
}
