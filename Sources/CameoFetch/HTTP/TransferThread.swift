internal import CameoModel
internal import Foundation
internal import Glibc
internal import Synchronization

/// Carries out all HTTP transfers on one permanent thread.
///
/// DESIGN: libcurl's multi interface drives any number of transfers from one thread. It blocks in `curl_multi_poll`, so it
/// is not a thread of the cooperative pool. Tasks reach it through a mailbox under a lock; everything else belongs to the
/// thread alone (``TransferLoop``) and needs no lock. A cancelled task sets a flag and wakes the thread, which checks the
/// flags of all its transfers, so it does not matter whether the cancellation comes before, during or after the request.
final class TransferThread: Sendable {
    private let mailbox = Mutex(Mailbox())
    private let budget: ByteBudget

    init(_ configuration: FetchConfiguration) {
        budget = configuration.budget
        let thread = Thread { self.run(configuration) }
        thread.name = "cameo-transfers"
        thread.start()
    }

    /// Carries out a transfer. The wait for a slot is reported to `clock`.
    ///
    /// - Throws: `CancellationError` if the task is cancelled or the thread was shut down; ``HostBusy``.
    func perform(_ request: TransferRequest, _ clock: WorkClock) async throws -> TransferResult {
        let cancellation = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let arrival = Mailbox.Arrival(
                    request: request,
                    cancellation: cancellation,
                    clock: clock,
                    continuation: continuation
                )
                guard mailbox.withLock({ $0.post(arrival) }) else {
                    continuation.resume(throwing: CancellationError())
                    return
                }
            }
        } onCancel: {
            cancellation.set()
            mailbox.withLock { $0.wake() }
        }
    }

    func shutdown() {
        mailbox.withLock { $0.close() }
    }

    private func run(_ configuration: FetchConfiguration) {
        // Signals are for the program's own threads. OpenSSL writes without MSG_NOSIGNAL, so a server that hangs up would
        // otherwise end the program by SIGPIPE.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, nil)

        // libcurl reads the host of a URL in the thread's locale. In the C locale of services, every international name
        // would be malformed; URLs are UTF-8.
        let unicode = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)
        let previous = uselocale(unicode)
        defer {
            uselocale(previous)
            if let unicode { freelocale(unicode) }
        }

        var loop = TransferLoop(configuration)
        let waker = loop.waker
        mailbox.withLock { $0.open(waking: waker) }
        let listener = budget.listen { [weak self] in self?.mailbox.withLock { $0.wake() } }
        defer { budget.takeBack(listener) }
        while let arrivals = mailbox.withLock({ $0.collect() }) {
            loop.turn(with: arrivals)
        }
        loop.close(refusing: mailbox.withLock { $0.abandon() })
    }
}
