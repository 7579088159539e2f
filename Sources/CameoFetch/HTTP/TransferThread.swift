internal import CameoModel
internal import Foundation
internal import Glibc
internal import Synchronization

/// Carries out HTTP transfers, all of them on one permanent thread.
///
/// DESIGN: libcurl's multi interface drives any number of transfers from one thread, which spends its life in
/// `curl_multi_poll` and therefore is no thread of the cooperative pool. Tasks reach it through a mailbox under a lock;
/// everything else belongs to the thread alone (``TransferLoop``) and needs no lock. A cancelled task sets a flag
/// and wakes the thread, which looks at the flags of all its transfers; so it makes no difference whether the
/// cancellation comes before the request, during it or after it.
final class TransferThread: Sendable {
    private let mailbox = Mutex(Mailbox())
    private let budget: ByteBudget

    init(_ configuration: FetchConfiguration) {
        budget = configuration.budget
        let thread = Thread { self.run(configuration) }
        thread.name = "cameo-transfers"
        thread.start()
    }

    /// The wait for a place counts as such on `clock`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled or the thread was shut down; ``HostBusy``.
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
        // Signals are for the threads of the program; a server that hangs up must not be its end (OpenSSL writes
        // without MSG_NOSIGNAL, so SIGPIPE would come to this thread).
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, nil)

        // libcurl takes the host of a URL for text in the thread's locale: in C, which services have, every international
        // name would be malformed. URLs are UTF-8.
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
