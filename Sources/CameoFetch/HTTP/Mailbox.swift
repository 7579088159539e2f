internal import CameoModel

/// What tasks hand to the transfer thread. A value under the lock of ``TransferThread``.
struct Mailbox {
    /// A hop to be done, and who waits for it.
    struct Arrival: Sendable {
        let request: TransferRequest
        let cancellation: CancellationFlag
        /// Of whoever waits.
        let clock: WorkClock
        let continuation: CheckedContinuation<TransferResult, any Error>

        /// Ends its wait for a place.
        func refuse(_ reason: any Error) {
            clock.endWait()
            continuation.resume(throwing: reason)
        }
    }

    private var arrivals: [Arrival] = []
    private var waker: MultiWaker?
    private var isClosed = false

    /// From now on posting wakes the thread.
    mutating func open(waking waker: MultiWaker) {
        self.waker = waker
    }

    /// - Returns: false when the thread has ended or is about to; the arrival then stays with the caller.
    mutating func post(_ arrival: Arrival) -> Bool {
        guard !isClosed else { return false }
        arrivals.append(arrival)
        waker?.wake()
        return true
    }

    /// Makes the thread look at the cancellation flags.
    func wake() {
        waker?.wake()
    }

    mutating func close() {
        isClosed = true
        waker?.wake()
    }

    /// Nil once closed.
    mutating func collect() -> [Arrival]? {
        isClosed ? nil : takeAll()
    }

    /// The thread's last look: after it the waker, whose handle goes, is not used again.
    mutating func abandon() -> [Arrival] {
        isClosed = true
        waker = nil
        return takeAll()
    }

    private mutating func takeAll() -> [Arrival] {
        defer { arrivals = [] }
        return arrivals
    }
}
