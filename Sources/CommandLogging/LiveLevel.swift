package import Logging
internal import Synchronization

/// A log level that all copies of a logger share and that can be changed at run time.
package final class LiveLevel: Sendable {
    private let current: Mutex<Logger.Level>

    package init(_ level: Logger.Level) {
        current = Mutex(level)
    }

    package var level: Logger.Level {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
