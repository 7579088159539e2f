internal import CameoFetch
internal import Synchronization

/// The fetcher that jobs begin with from now on; what runs ends with the one that it began with.
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
