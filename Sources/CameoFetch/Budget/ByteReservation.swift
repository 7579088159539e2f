internal import Synchronization

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

    /// Takes more of the budget, up to a total of `bytes`.
    ///
    /// - Returns: false if there is no room. The budget then notifies its listeners when another attempt may succeed.
    func grow(to bytes: Int) -> Bool {
        held.withLock { held in
            guard let download, bytes > held else { return true }
            let more = bytes - held
            let isIn = budget.state.withLock { state in
                let isBegun = state.growing.contains(download)
                let isNext = isBegun ? state.growing.first == download : false
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
