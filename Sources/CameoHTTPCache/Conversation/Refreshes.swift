package import CameoModel
internal import Synchronization

/// The refreshes of responses that were served stale meanwhile (RFC 5861, section 3), at most one a key.
///
/// Nobody waits for a refresh, so it is a task of its own, and its failure is nobody's failure: the next request within the
/// window begins another.
package final class Refreshes: Sendable {
    private let running = Mutex<Set<SourceKey>>([])

    package init() {}

    /// Starts a refresh unless one of the key is running.
    package func begin(_ key: SourceKey, _ refresh: @escaping @Sendable () async -> Void) {
        guard running.withLock({ $0.insert(key).inserted }) else { return }
        Task {
            await refresh()
            running.withLock { _ = $0.remove(key) }
        }
    }
}
