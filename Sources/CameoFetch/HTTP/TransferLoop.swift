internal import CameoHTTPTransfer
internal import CameoModel
internal import CameoSystem
internal import Glibc
internal import Synchronization

/// The work of the transfer thread, and the state that belongs to it alone.
struct TransferLoop: ~Copyable {
    private let configuration: FetchConfiguration
    fileprivate let multi: MultiHandle
    private var admission: Admission
    private var active: [Int: Transfer] = [:]
    private var lastToken = 0

    init(_ configuration: FetchConfiguration) {
        self.configuration = configuration
        multi = MultiHandle(connections: configuration.maximumConnections)
        admission = Admission(
            total: min(configuration.maximumTransfers, configuration.maximumConnections),
            perOrigin: configuration.maximumConnectionsPerHost,
            patience: configuration.hostPatience
        )
    }

    /// One iteration: accepts new transfers, advances all of them, then sleeps until there is more to do.
    mutating func turn(with arrivals: [Mailbox.Arrival]) {
        for arrival in arrivals {
            arrival.clock.beginWait()
            admission.enqueue(arrival)
        }
        end(where: \.wasCancelled.value)
        startAdmitted()
        guard multi.perform() else { return endAll() }
        for (token, transfer) in active where transfer.isPaused {
            do throws(CurlError) { try transfer.goOnIfThereIsRoom() } catch { settle(token, error) }
        }
        for (token, error) in multi.takeFinished() { settle(token, error) }
        startAdmitted()
        for (arrival, delay) in admission.sendAway() {
            arrival.refuse(HostBusy(host: arrival.request.url.host, delay: delay))
        }
        let pause = admission.nextDeparture.map { ContinuousClock.now.duration(to: $0) }
        guard multi.wait(atMost: pause) else { return endAll() }
    }

    /// Ends all transfers and the given arrivals with `CancellationError`.
    mutating func close(refusing arrivals: [Mailbox.Arrival]) {
        end { _ in true }
        for arrival in arrivals { arrival.continuation.resume(throwing: CancellationError()) }
    }

    private mutating func startAdmitted() {
        while let arrival = admission.next() {
            arrival.clock.endWait()
            lastToken += 1
            do throws(CurlError) {
                let transfer = try Transfer(arrival, configuration: configuration)
                try multi.add(transfer.easy, token: lastToken)
                active[lastToken] = transfer
            } catch {
                admission.release(arrival.request.url.origin)
                arrival.continuation.resume(returning: TransferResult(error: error))
            }
        }
    }

    private mutating func end(where isOver: (Mailbox.Arrival) -> Bool) {
        for (token, transfer) in active where isOver(transfer.arrival) {
            finish(token)
            transfer.arrival.continuation.resume(throwing: CancellationError())
        }
        for arrival in admission.removeWaiting(where: isOver) { arrival.refuse(CancellationError()) }
    }

    /// Ends all transfers after libcurl itself failed: none would be sure to end.
    private mutating func endAll() {
        for token in active.keys { settle(token, .outOfMemory) }
    }

    private mutating func settle(_ token: Int, _ error: CurlError?) {
        guard let transfer = active[token] else { return }
        let result = transfer.result(error)
        finish(token)
        transfer.arrival.continuation.resume(returning: result)
    }

    private mutating func finish(_ token: Int) {
        guard let transfer = active.removeValue(forKey: token) else { return }
        multi.remove(transfer.easy)
        admission.release(transfer.arrival.request.url.origin)
    }
}

/// Carries out all HTTP transfers on one permanent thread.
///
/// DESIGN: libcurl's multi interface drives any number of transfers from one thread. It blocks in `curl_multi_poll`, so it
/// is not a thread of the cooperative pool. Tasks reach it through a mailbox under a lock; everything else belongs to the
/// thread alone (``TransferLoop``) and needs no lock. A cancelled task sets a flag and wakes the thread, which checks the
/// flags of all its transfers, so it does not matter whether the cancellation comes before, during or after the request.
final class TransferThread: Sendable {
    private let mailbox = Mutex(Mailbox())

    init(_ configuration: FetchConfiguration) throws(FetchConfigurationError) {
        do throws(Errno) {
            try BlockingThread.start("cameo-transfers") { self.run(configuration) }
        } catch {
            throw .library("cannot have a thread: \(error)")
        }
    }

    /// Carries out a transfer. The wait for a slot is reported to `clock`.
    ///
    /// - Throws: `CancellationError` if the task is cancelled or the thread was shut down; ``HostBusy``.
    func perform(_ request: TransferRequest, _ clock: WorkClock) async throws -> TransferResult {
        let wasCancelled = Live(false)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let arrival = Mailbox.Arrival(
                    request: request,
                    wasCancelled: wasCancelled,
                    clock: clock,
                    continuation: continuation
                )
                let isOpen = mailbox.withLock { mailbox in
                    guard !mailbox.isClosed else { return false }
                    mailbox.arrivals.append(arrival)
                    mailbox.waker?.wake()
                    return true
                }
                if !isOpen { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            wasCancelled.value = true
            wake()
        }
    }

    func shutdown() {
        mailbox.withLock { $0.isClosed = true }
        wake()
    }

    /// Makes the thread look at its mailbox and the cancellation flags.
    private func wake() { mailbox.withLock { $0.waker?.wake() } }

    private func run(_ configuration: FetchConfiguration) {
        // libcurl reads the host of a URL in the thread's locale. In the C locale of services, every international name
        // would be malformed; URLs are UTF-8.
        let unicode = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)
        let previous = uselocale(unicode)
        defer {
            uselocale(previous)
            if let unicode { freelocale(unicode) }
        }

        var loop = TransferLoop(configuration)
        let waker = loop.multi.waker
        mailbox.withLock { $0.waker = waker }
        let listener = configuration.budget.listen { [weak self] in self?.wake() }
        defer { configuration.budget.takeBack(listener) }
        while let arrivals = mailbox.withLock({ $0.isClosed ? nil : $0.takeArrivals() }) { loop.turn(with: arrivals) }
        let last = mailbox.withLock { mailbox in
            // Nobody may wake a loop that is gone.
            mailbox.waker = nil
            return mailbox.takeArrivals()
        }
        loop.close(refusing: last)
    }
}

/// The queue from tasks to the transfer thread. A value under the lock of ``TransferThread``.
struct Mailbox {
    /// A requested transfer and its waiting task.
    struct Arrival: Sendable {
        let request: TransferRequest
        let wasCancelled: Live<Bool>
        /// The clock of the waiting task.
        let clock: WorkClock
        let continuation: CheckedContinuation<TransferResult, any Error>

        /// Ends the wait for a slot with an error.
        func refuse(_ reason: any Error) {
            clock.endWait()
            continuation.resume(throwing: reason)
        }
    }

    var arrivals: [Arrival] = []
    /// Nil unless the thread runs.
    var waker: MultiWaker?
    /// Whether the thread has ended or is about to.
    var isClosed = false

    mutating func takeArrivals() -> [Arrival] {
        defer { arrivals = [] }
        return arrivals
    }
}
