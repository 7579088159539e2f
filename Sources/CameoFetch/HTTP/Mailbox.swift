internal import CameoModel

/// The queue from tasks to the transfer thread. A value under the lock of ``TransferThread``.
struct Mailbox {
    /// A requested transfer and its waiting task.
    struct Arrival: Sendable {
        let request: TransferRequest
        let cancellation: CancellationFlag
        /// The clock of the waiting task.
        let clock: WorkClock
        let continuation: CheckedContinuation<TransferResult, any Error>

        /// Ends the wait for a slot with an error.
        func refuse(_ reason: any Error) {
            clock.endWait()
            continuation.resume(throwing: reason)
        }
    }

    private var arrivals: [Arrival] = []
    private var waker: MultiWaker?
    private var isClosed = false

    /// Makes ``post(_:)`` wake the thread from now on.
    mutating func open(waking waker: MultiWaker) {
        self.waker = waker
    }

    /// - Returns: false if the thread has ended or is about to; the arrival then stays with the caller.
    mutating func post(_ arrival: Arrival) -> Bool {
        guard !isClosed else { return false }
        arrivals.append(arrival)
        waker?.wake()
        return true
    }

    /// Makes the thread check the cancellation flags.
    func wake() {
        waker?.wake()
    }

    mutating func close() {
        isClosed = true
        waker?.wake()
    }

    /// Takes all arrivals; nil after ``close()``.
    mutating func collect() -> [Arrival]? {
        isClosed ? nil : takeAll()
    }

    /// Takes the last arrivals before the thread ends. The waker is not used after this.
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
