internal import Foundation
internal import Glibc
internal import Synchronization

// DESIGN. Calls of libcurl and of a shared file system block, for as long as a server or a disk pleases, so they have
// threads of their own and never one of the cooperative pool. A thread is started when all others are busy, up to a limit,
// which also bounds the load on the server; what comes then waits in the order of its arrival. The thread that was busy
// last gets the next job, because its connection is the most likely to be open still.

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
        let flag = CancellationFlag()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Value?, Never>) in
                add { [weak self] context in
                    let value = context.map { body($0) { flag.isSet || self?.isClosed != false } }
                    return { continuation.resume(returning: value) }
                }
            }
        } onCancel: {
            flag.set()
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
            guard state.threads < limit else {
                state.waiting.append(job)
                return .waits
            }
            state.threads += 1
            return .needsThread
        }
        switch placement {
        case .refused: job(nil)()
        case .waits: break
        case .handed(let seat): seat.turn.signal()
        case .needsThread:
            Thread.begin(name) { [self] in work(from: job) }
        }
    }

    private func work(from first: Job) {
        let context = makeContext()
        let seat = Seat()
        var handOver = first(context)
        while let job = next(seat, handOver) { handOver = job(context) }
    }

    /// Hands over the last result, and blocks until there is work; nil after a shutdown.
    private func next(_ seat: Seat, _ handOver: () -> Void) -> Job? {
        let (job, waits): (Job?, Bool) = state.withLock { state in
            if state.isClosed { return (nil, false) }
            if !state.waiting.isEmpty { return (state.waiting.removeFirst(), false) }
            state.idle.append(seat)
            return (nil, true)
        }
        handOver()
        guard waits else { return job }
        // Whoever takes the seat from the list signals it: with a job, or without one in a shutdown.
        seat.turn.wait()
        return state.withLock { $0.handed.removeValue(forKey: ObjectIdentifier(seat)) }
    }
}

extension Thread {
    /// Starts a thread that gets no signals: they are for the program's own threads. OpenSSL writes without MSG_NOSIGNAL, so
    /// a server that hangs up would otherwise end the program by SIGPIPE. The name has at most 15 characters.
    package static func begin(_ name: String, _ work: @escaping @Sendable () -> Void) {
        let thread = Thread {
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_SETMASK, &all, nil)
            work()
        }
        thread.name = name
        thread.start()
    }
}

/// Tells work on another thread that the task waiting for it was cancelled.
package final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package var isSet: Bool { flag.load(ordering: .acquiring) }

    package func set() { flag.store(true, ordering: .releasing) }
}
