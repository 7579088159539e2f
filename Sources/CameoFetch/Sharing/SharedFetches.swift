internal import CameoModel
internal import Synchronization

/// Shares one download among concurrent fetches of the same source.
///
/// A download runs in its own task and continues as long as at least one fetch waits for it. All waiting fetches get its
/// result, success or failure. Results are not kept: a later fetch begins a new download.
final class SharedFetches: Sendable {
    typealias Body = @Sendable (_ clock: WorkClock) async throws -> FetchedSource

    private let state = Mutex(SharedFetchesState())

    /// - Parameters:
    ///   - key: fetches with equal keys may share.
    ///   - ticket: the start of the caller's fetch.
    ///   - clock: the caller's clock, which follows that of the download.
    ///   - body: makes the download; called only if there is none to join.
    /// - Returns: the bytes, with the ticket of the fetch that began the download.
    /// - Throws: the download's error, or `CancellationError` if the task is cancelled.
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
