internal import CameoModel
internal import Synchronization

/// Makes one download of those that want the same at one time.
///
/// A download belongs to nobody in particular: it runs in a task of its own, and goes on as long as anybody waits for
/// it. Its end, success or failure, is everybody's. Nothing is kept: who comes later begins a new one.
final class SharedFetches: Sendable {
    typealias Body = @Sendable (_ clock: WorkClock) async throws -> FetchedSource

    private let state = Mutex(SharedFetchesState())

    /// - Parameters:
    ///   - key: what is the same for all who may share.
    ///   - ticket: when the caller's fetch began.
    ///   - clock: the caller's; it follows that of the download.
    ///   - body: the download; called only if there is none that may be joined.
    /// - Returns: the bytes, with the ticket of the one who began the download.
    /// - Throws: what the download throws; `CancellationError` when the task is cancelled.
    func fetch(
        _ key: SharedFetchKey,
        _ ticket: FetchTicket,
        _ clock: WorkClock,
        _ body: @escaping Body
    ) async throws -> FetchedSource {
        let waiter = state.withLock { $0.newNumber() }
        defer { clock.follow(nil) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waits = state.withLock { state in
                    // Cancelled before: then the handler has run, or will find the waiter.
                    guard !Task.isCancelled else { return false }
                    if let joined = state.join(key, ticket, as: waiter, continuation) {
                        clock.follow(joined)
                    } else {
                        let (number, own) = (state.newNumber(), WorkClock())
                        let task = Task { self.end(number, with: await Self.result(of: body, own)) }
                        state.begin(number, key, ticket, own, task, for: waiter, continuation)
                        clock.follow(own)
                    }
                    return true
                }
                if !waits { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let left = state.withLock { $0.leave(waiter) }
            left?.abandoned?.cancel()
            left?.continuation.resume(throwing: CancellationError())
        }
    }

    private func end(_ number: Int, with result: Result<FetchedSource, any Error>) {
        guard let ended = state.withLock({ $0.end(number) }) else { return }
        for waiter in ended.waiters { waiter.resume(with: result.map { $0.begun(with: ended.ticket) }) }
    }

    private static func result(of body: Body, _ clock: WorkClock) async -> Result<FetchedSource, any Error> {
        do { return .success(try await body(clock)) } catch { return .failure(error) }
    }
}
