internal import Synchronization

/// A part of a ``ByteBudget``, given back with the last reference.
package final class ByteReservation: Sendable {
    private let budget: ByteBudget
    private let held: Mutex<Int>
    /// Its place among the downloads; nil for one that does not grow.
    private let download: Int?
    private let mayExceed: Bool

    init(of budget: ByteBudget, _ bytes: Int) {
        self.budget = budget
        held = Mutex(bytes)
        download = nil
        mayExceed = false
    }

    /// Of a download that has yet to begin.
    init(ofDownloadFrom budget: ByteBudget, for purpose: FetchPurpose) {
        self.budget = budget
        held = Mutex(0)
        download = budget.state.withLock { $0.newID() }
        mayExceed = purpose == .overlay
    }

    deinit { shrink(to: 0) }

    /// Takes more of the budget, up to `bytes` in all.
    ///
    /// - Returns: false if there is no room; the budget's listeners are told when it is worth another try.
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

    /// Gives back all but so many bytes. It does not grow again.
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
