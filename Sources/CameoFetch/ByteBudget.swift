package import CameoSystem
internal import Synchronization

// DESIGN. Sources wait for their renderer in memory, so the sources in flight are limited by bytes, not only by number. Four
// rules prevent deadlock. A fetch that knows its size reserves all of it before the first byte, and holds nothing while it
// waits; one that is larger than the budget runs alone. A download that outgrows its reservation pauses until there is
// room, except for the oldest such download. Overlays never wait, since their job already holds a picture, but they are
// counted. A reservation is returned together with the file that holds the bytes.

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
        /// Downloads that hold some bytes and may need more, the oldest first.
        var growing: [Int] = []
        /// Whether a download was refused since the listeners were last notified.
        var hasRefused = false
        var lastID = 0
        var listeners: [Int: @Sendable () -> Void] = [:]

        mutating func newID() -> Int {
            lastID += 1
            return lastID
        }

        func hasRoom(_ bytes: Int) -> Bool { used == 0 || bytes <= limit - used }

        /// Admits waiters in the order of their arrival, and returns them with the listeners to notify.
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

    package init(limit: Int = .max) { state = Mutex(State(limit: limit, used: 0)) }

    /// Reserves bytes as soon as there is room. The wait is reported to `clock`.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    package func reserve(
        _ bytes: Int,
        for purpose: FetchPurpose = .source,
        _ clock: WorkClock
    ) async throws -> ByteReservation {
        if purpose == .overlay {
            state.withLock { $0.used += bytes }
        } else {
            clock.beginWait()
            defer { clock.endWait() }
            guard await acquire(bytes) else { throw CancellationError() }
        }
        return ByteReservation(of: self, bytes)
    }

    /// Runs an operation that takes one of the budget, as soon as there is room. The wait is reported to `clock`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while it waits, or what the operation throws.
    package func run<Value: Sendable>(_ clock: WorkClock, _ operation: () async throws -> Value) async throws -> Value {
        let place = try await reserve(1, clock)
        defer { place.shrink(to: 0) }
        return try await operation()
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
                state.waiters.remove(at: index).continuation.resume(returning: false)
            }
        }
    }

    /// Changes the state, then resumes the waiters that have room now.
    func change(_ body: (inout State) -> Void) {
        let (waiters, listeners) = state.withLock { state in
            body(&state)
            return state.settle()
        }
        for waiter in waiters { waiter.continuation.resume(returning: true) }
        for listener in listeners { listener() }
    }

    /// Calls `listener`, from any thread, whenever a refused download may try again, until ``takeBack(_:)``.
    func listen(_ listener: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            let id = state.newID()
            state.listeners[id] = listener
            return id
        }
    }

    func takeBack(_ listener: Int) { state.withLock { $0.listeners[listener] = nil } }
}

/// The purpose of a fetched picture.
package enum FetchPurpose: Hashable, Sendable {
    /// The job's source, which is its first picture.
    case source
    case overlay
}

/// A part of a ``ByteBudget``, returned when the last reference is released.
package final class ByteReservation: Sendable {
    private let budget: ByteBudget
    private let held: Mutex<Int>
    /// The download's number; nil for a reservation of fixed size.
    private let download: Int?
    private let mayExceed: Bool

    init(of budget: ByteBudget, _ bytes: Int) {
        self.budget = budget
        held = Mutex(bytes)
        download = nil
        mayExceed = false
    }

    /// Makes an empty reservation for a download that is about to begin.
    init(ofDownloadFrom budget: ByteBudget, for purpose: FetchPurpose) {
        self.budget = budget
        held = Mutex(0)
        download = budget.state.withLock { $0.newID() }
        mayExceed = purpose == .overlay
    }

    deinit { shrink(to: 0) }

    /// Takes more of the budget, up to a total of `bytes`. Returns false if there is no room; the budget then notifies its
    /// listeners when another attempt may succeed.
    func grow(to bytes: Int) -> Bool {
        held.withLock { held in
            guard let download, bytes > held else { return true }
            let more = bytes - held
            let isIn = budget.state.withLock { state in
                let isBegun = state.growing.contains(download)
                let isNext = state.growing.first == download
                guard mayExceed || isNext || (state.hasRoom(more) && (isBegun || state.waiters.isEmpty)) else {
                    state.hasRefused = true
                    return false
                }
                state.used += more
                if !isBegun { state.growing.append(download) }
                return true
            }
            if isIn { held = bytes }
            return isIn
        }
    }

    /// Returns all but the given number of bytes. The reservation does not grow again.
    package func shrink(to bytes: Int) {
        held.withLock { held in
            let less = max(0, held - bytes)
            held -= less
            budget.change { state in
                state.used -= less
                state.growing.removeAll { $0 == download }
            }
        }
    }
}
