internal import Synchronization

/// A value that all who hold it share, and that can be replaced at any time.
package final class Live<Value: Sendable>: Sendable {
    private let current: Mutex<Value>

    package init(_ value: Value) { current = Mutex(value) }

    package var value: Value {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
