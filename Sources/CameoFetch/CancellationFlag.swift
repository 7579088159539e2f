internal import Synchronization

/// Tells work on a thread of its own that the task that waits for it was cancelled.
final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }

    func check() throws(CancellationError) {
        guard !isSet else { throw CancellationError() }
    }
}
