internal import CLinux
internal import Foundation
internal import Glibc
internal import Synchronization

// DESIGN. Calls of libcurl and of a file system block, for as long as a server or a disk pleases, so they have threads of
// their own and never one of the cooperative pool. A thread is started when all others are busy, up to a limit, which also
// bounds the load on the server; what comes then waits in the order of its arrival. The thread that was busy last gets the
// next job, because its connection is the most likely to be open still.

/// Threads for blocking work, each with a context of its own, such as a connection.
package final class BlockingThreads<Context>: Sendable {
    /// Work for a thread; the context is nil if the threads were shut down. It returns what hands the result over, which is
    /// called when the thread has its next job or its seat: whoever gets the result can have the same thread again.
    private typealias Job = @Sendable (_ context: Context?) -> () -> Void

    /// A thread that waits for work, which is handed over under the lock.
    private final class Seat: Sendable {
        let turn = DispatchSemaphore(value: 0)
    }

    private struct State {
        var waiting: [Job] = []
        /// The threads without work, the last busy one last.
        var idle: [Seat] = []
        var handed: [ObjectIdentifier: Job] = [:]
        var threads = 0
        var isClosed = false

        /// The job that waits longest; nil ends a thread.
        mutating func nextOrEnd() -> Job? {
            guard waiting.isEmpty else { return waiting.removeFirst() }
            threads -= 1
            return nil
        }
    }

    private let state = Mutex(State())
    private let limit: Int
    private let name: String
    private let makeContext: @Sendable () -> Context

    /// Starts at most `limit` threads, each of which makes its own context. The name has at most 15 characters.
    package init(limit: Int, name: String, makeContext: @escaping @Sendable () -> Context) {
        (self.limit, self.name, self.makeContext) = (max(1, limit), name, makeContext)
    }

    package var isClosed: Bool { state.withLock { $0.isClosed } }
    /// The number of jobs without a thread.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Runs the body on one of the threads, with its context and a question that the body asks wherever it can stop: whether its
    /// task was cancelled or the threads were shut down. Returns nil if they were before it began.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (_ context: Context, _ isCancelled: @escaping () -> Bool) -> Value
    ) async -> Value? {
        let wasCancelled = Live(false)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Value?, Never>) in
                add { [weak self] context in
                    let value = context.map { body($0) { wasCancelled.value || self?.isClosed != false } }
                    return { continuation.resume(returning: value) }
                }
            }
        } onCancel: {
            wasCancelled.value = true
        }
    }

    /// Ends the threads after their current jobs, which are told to stop. Waiting jobs end at once.
    package func shutdown() {
        let (jobs, seats) = state.withLock { state in
            state.isClosed = true
            defer { (state.waiting, state.idle) = ([], []) }
            return (state.waiting, state.idle)
        }
        for job in jobs { job(nil)() }
        for seat in seats { seat.turn.signal() }
    }

    private enum Placement {
        case refused
        case waits
        case handed(Seat)
        case needsThread
    }

    private func add(_ job: @escaping Job) {
        let placement: Placement = state.withLock { state in
            if state.isClosed { return .refused }
            if let seat = state.idle.popLast() {
                state.handed[ObjectIdentifier(seat)] = job
                return .handed(seat)
            }
            state.waiting.append(job)
            guard state.threads < limit else { return .waits }
            state.threads += 1
            return .needsThread
        }
        switch placement {
        case .refused: job(nil)()
        case .waits: break
        case .handed(let seat): seat.turn.signal()
        case .needsThread:
            do throws(Errno) {
                try BlockingThread.start(name) { [self] in work() }
            } catch {
                // The machine has no thread left, so the caller's does the work.
                let previous = BlockingThread.blockSignals()
                let context = makeContext()
                while let job = state.withLock({ $0.nextOrEnd() }) { job(context)() }
                BlockingThread.blockSignals(previous)
            }
        }
    }

    private func work() {
        let context = makeContext()
        let seat = Seat()
        var handOver: (() -> Void)?
        while let job = next(seat, &handOver) { handOver = job(context) }
    }

    /// Hands over the last result, and blocks until there is work; nil after a shutdown. A thread that waits keeps neither its
    /// last job nor the result: what they hold may be large, or the owner of the threads.
    private func next(_ seat: Seat, _ handOver: inout (() -> Void)?) -> Job? {
        let (job, waits): (Job?, Bool) = state.withLock { state in
            if state.isClosed { return (nil, false) }
            if !state.waiting.isEmpty { return (state.waiting.removeFirst(), false) }
            state.idle.append(seat)
            return (nil, true)
        }
        handOver?()
        handOver = nil
        guard waits else { return job }
        // Whoever takes the seat from the list signals it: with a job, or without one in a shutdown.
        seat.turn.wait()
        return state.withLock { $0.handed.removeValue(forKey: ObjectIdentifier(seat)) }
    }
}

/// A thread for blocking work. It ends when its body returns, and not before, so that it can start a child that is to die
/// with it (prctl(2), PR_SET_PDEATHSIG).
package enum BlockingThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Blocks these signals on this thread, by default all but those of its own faults, and no others. Returns those that were
    /// blocked before.
    @discardableResult
    static func blockSignals(_ signals: sigset_t? = nil) -> sigset_t {
        var (blocked, previous) = (sigset_t(), sigset_t())
        sigfillset(&blocked)
        for fault in [SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { sigdelset(&blocked, fault) }
        if let signals { blocked = signals }
        pthread_sigmask(SIG_SETMASK, &blocked, &previous)
        return previous
    }

    /// Starts a thread with a name of at most 15 characters, as `ps -T` shows it. It gets no signals but those of its own
    /// faults: they are for the program's own threads. OpenSSL writes without MSG_NOSIGNAL, so a server that hangs up would
    /// otherwise end the program by SIGPIPE.
    ///
    /// - Throws: the error of pthread_create.
    package static func start(_ name: String, _ run: @escaping @Sendable () -> Void) throws(Errno) {
        let body = Unmanaged.passRetained(
            Body {
                cameo_name_thread(name)
                blockSignals()
                run()
            }
        )
        var thread = pthread_t()
        let result = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            body.toOpaque()
        )
        guard result == 0 else {
            body.release()
            throw Errno(result)
        }
        pthread_detach(thread)
    }
}

/// poll(2) over a few descriptors.
package struct PollSet {
    private var entries: [pollfd] = []

    /// Watches the descriptors that are not nil for reading.
    package init(_ descriptors: Int32?...) {
        for case let descriptor? in descriptors { add(descriptor) }
    }

    /// Adds a descriptor to be watched for reading and, on request, for writing.
    package mutating func add(_ descriptor: Int32, alsoForWriting: Bool = false) {
        let events = alsoForWriting ? POLLIN | POLLOUT : POLLIN
        entries.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
    }

    /// Waits until a descriptor is ready or closed. Returns false on timeout.
    @discardableResult
    package mutating func wait(milliseconds: Int32) -> Bool {
        let count = poll(&entries, nfds_t(entries.count), milliseconds)
        // EINTR is a reason to check again, like any event; a kernel without memory is one in a moment.
        if count < 0, errno != EINTR { usleep(10_000) }
        return count != 0
    }

    package func isReady(_ descriptor: Int32) -> Bool { entries.contains { $0.fd == descriptor && $0.revents != 0 } }
}

/// A queue, which ends with its task, and no thread of the cooperative pool: programs may block all of those by opening stores.
/// Whoever is waited for meanwhile must not need one either; a task that is not another's child does not inherit this.
package final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "cameo.own")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
