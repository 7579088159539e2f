internal import CameoModel
internal import Synchronization

/// Limits how many operations run at once. The others wait, and begin in the order in which they came.
final class Limiter: Sendable {
    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var free: Int
        var waiters: [Waiter] = []
        var nextID = 0

        mutating func cancel(_ id: Int) -> Waiter? {
            guard let index = waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return waiters.remove(at: index)
        }

        mutating func release() -> Waiter? {
            if waiters.isEmpty { free += 1; return nil }
            return waiters.removeFirst()
        }
    }

    private let state: Mutex<State>

    init(limit: Int) {
        state = Mutex(State(free: limit))
    }

    /// Runs an operation as soon as there is room. `clock` counts the time until then as waiting.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while it waits, or what the operation throws.
    func run<Value: Sendable>(_ clock: WorkClock, _ operation: () async throws -> Value) async throws -> Value {
        clock.beginWait()
        let isIn = await acquire()
        clock.endWait()
        guard isIn else { throw CancellationError() }
        defer { state.withLock { $0.release() }?.continuation.resume(returning: true) }
        return try await operation()
    }

    private func acquire() async -> Bool {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let immediate: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let immediate { continuation.resume(returning: immediate) }
            }
        } onCancel: {
            state.withLock { $0.cancel(id) }?.continuation.resume(returning: false)
        }
    }
}
