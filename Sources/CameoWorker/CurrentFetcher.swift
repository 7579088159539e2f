internal import CameoFetch
internal import Synchronization

/// The fetcher for jobs that begin from now on. A running job keeps the fetcher that it began with.
final class CurrentFetcher: Sendable {
    private let current: Mutex<Fetcher>

    init(_ fetcher: Fetcher) {
        current = Mutex(fetcher)
    }

    var fetcher: Fetcher {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
