internal import Dispatch
internal import Foundation
internal import Synchronization

/// A few permanent threads for blocking work, such as reading files: a blocking task would occupy one of the few threads of
/// the cooperative pool.
final class BlockingThreads: Sendable {
    private struct State {
        /// The waiting jobs. Each is called once, with whether the threads have been shut down.
        var jobs: [@Sendable (_ isClosed: Bool) -> Void] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Counts the jobs, and finally one more for each thread.
    private let work = DispatchSemaphore(value: 0)
    private let count: Int

    init(count: Int, name: String) {
        self.count = count
        for _ in 0..<count {
            let thread = Thread { self.run() }
            thread.name = name
            thread.start()
        }
    }

    /// Runs the body on one of the threads.
    ///
    /// - Parameter body: checks the flag wherever it can stop.
    /// - Returns: the result of the body.
    /// - Throws: the error of the body; `CancellationError` if the task is cancelled before the body begins, or the threads
    ///   were shut down.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (_ cancellation: CancellationFlag) throws -> Value
    ) async throws -> Value {
        let cancellation = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                add { isClosed in
                    continuation.resume(
                        with: Result {
                            guard !isClosed else { throw CancellationError() }
                            try cancellation.check()
                            return try body(cancellation)
                        }
                    )
                }
            }
        } onCancel: {
            cancellation.set()
        }
    }

    /// Ends the threads after their current jobs. Waiting jobs end with `CancellationError`.
    func shutdown() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in waiting { job(true) }
        for _ in 0..<count { work.signal() }
    }

    private func add(_ job: @escaping @Sendable (Bool) -> Void) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.jobs.append(job) }
            return state.isClosed
        }
        if isClosed { job(true) } else { work.signal() }
    }

    private func run() {
        while true {
            work.wait()
            let (job, isClosed) = state.withLock { state in
                (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isClosed)
            }
            if let job { job(false) } else if isClosed { return }
        }
    }
}

/// Tells work on another thread that the task waiting for it was cancelled.
final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }

    func check() throws(CancellationError) {
        guard !isSet else { throw CancellationError() }
    }
}
