internal import Synchronization

/// Yields each number once.
package final class Numbers: Sendable {
    private let last = Mutex(0)

    package init() {}

    package func next(_ count: Int) -> Range<Int> {
        last.withLock { last in
            defer { last += count }
            return last..<(last + count)
        }
    }
}
