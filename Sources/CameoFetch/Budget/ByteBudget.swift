package import CameoModel
internal import Synchronization

// DESIGN. Sources wait for their renderer in memory, so what is in flight is bounded by bytes and not only by number.
// Nobody waits for ever, because of four rules. Whoever knows the size takes all of it before the first byte, and holds
// nothing while it waits; one that is larger than the budget goes alone. A download that outgrows what it took is held
// back until there is room, except for the oldest of these. A job's further pictures, its overlays, never wait, since
// the job holds a picture already: they are counted all the same. What is held is given back with the file that holds it.

/// The bytes of sources that may be in memory at one time.
package final class ByteBudget: Sendable {
    struct State {
        struct Waiter {
            let id: Int
            let bytes: Int
            let continuation: CheckedContinuation<Bool, Never>
        }

        let limit: Int
        var used = 0
        var waiters: [Waiter] = []
        /// Downloads that hold some bytes and may want more, the oldest first.
        var growing: [Int] = []
        /// Whether one of them, or one that has yet to begin, was refused.
        var hasRefused = false
        var lastID = 0
        var listeners: [Int: @Sendable () -> Void] = [:]

        mutating func newID() -> Int {
            lastID += 1
            return lastID
        }

        func hasRoom(_ bytes: Int) -> Bool { used == 0 || bytes <= limit - used }

        /// Those who may go now, in the order of their arrival, and who else wants to hear of the room.
        mutating func settle() -> (waiters: [Waiter], listeners: [@Sendable () -> Void]) {
            var admitted: [Waiter] = []
            while let first = waiters.first, hasRoom(first.bytes) {
                used += first.bytes
                admitted.append(waiters.removeFirst())
            }
            defer { hasRefused = false }
            return (admitted, hasRefused ? Array(listeners.values) : [])
        }
    }

    let state: Mutex<State>

    package init(limit: Int = .max) {
        state = Mutex(State(limit: limit, used: 0))
    }

    /// Takes bytes when there is room; the wait counts as such on `clock`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    package func reserve(
        _ bytes: Int,
        for purpose: FetchPurpose = .source,
        _ clock: WorkClock
    ) async throws -> ByteReservation {
        if purpose == .overlay { return take(bytes) }
        clock.beginWait()
        defer { clock.endWait() }
        guard await acquire(bytes) else { throw CancellationError() }
        return ByteReservation(of: self, bytes)
    }

    /// Takes bytes whether there is room or not.
    private func take(_ bytes: Int) -> ByteReservation {
        state.withLock { $0.used += bytes }
        return ByteReservation(of: self, bytes)
    }

    private func acquire(_ bytes: Int) async -> Bool {
        let id = state.withLock { $0.newID() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIn: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.waiters.isEmpty, state.hasRoom(bytes) {
                        state.used += bytes
                        return true
                    }
                    state.waiters.append(State.Waiter(id: id, bytes: bytes, continuation: continuation))
                    return nil
                }
                if let isIn { continuation.resume(returning: isIn) }
            }
        } onCancel: {
            change { state in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return }
                let waiter = state.waiters.remove(at: index)
                waiter.continuation.resume(returning: false)
            }
        }
    }

    /// Changes what is held, and lets those go on who now may.
    func change(_ body: (inout State) -> Void) {
        let (waiters, listeners) = state.withLock { state in
            body(&state)
            return state.settle()
        }
        for waiter in waiters { waiter.continuation.resume(returning: true) }
        for listener in listeners { listener() }
    }

    /// Calls `listener`, from any thread, whenever a download that was refused may ask again; until it is taken back.
    func listen(_ listener: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            let id = state.newID()
            state.listeners[id] = listener
            return id
        }
    }

    func takeBack(_ listener: Int) { state.withLock { $0.listeners[listener] = nil } }
}

/// What a picture is fetched for.
package enum FetchPurpose: Hashable, Sendable {
    /// The job's own source, its first picture.
    case source
    case overlay
}
