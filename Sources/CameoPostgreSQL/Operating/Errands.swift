internal import Synchronization

/// Work that a call has left for after its return. A program that is about to exit waits for it.
final class Errands: Sendable {
    private struct State {
        var next = 0
        var running: [Int: Task<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    func start(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            let number = state.next
            state.next += 1
            state.running[number] = Task {
                await work()
                self.state.withLock { $0.running[number] = nil }
            }
        }
    }

    /// Waits for all that has been started.
    func finish() async {
        while let task = state.withLock({ $0.running.values.first }) { await task.value }
    }
}
