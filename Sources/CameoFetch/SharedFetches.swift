internal import CameoModel
internal import CameoSystem
internal import Synchronization

/// Shares one download among concurrent fetches of the same source.
///
/// A download runs in its own task and continues as long as at least one fetch waits for it. All waiting fetches get its
/// result, success or failure. Results are not kept: a later fetch begins a new download.
final class SharedFetches: Sendable {
    typealias Body = @Sendable (_ clock: WorkClock) async throws -> FetchedSource

    private let state = Mutex(SharedFetchesState())

    /// The bytes, with the ticket of the fetch that began their download. Fetches with equal keys may share it: `body`, which
    /// makes one, is called only if there is none to join. The caller's clock follows that of the download.
    ///
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
                    if let number = state.newest[key], let other = state.downloads[number],
                        ticket.mayJoin(other.ticket)
                    {
                        state.downloads[number]?.waiters[waiter] = continuation
                        clock.follow(other.clock)
                    } else {
                        let (number, own) = (state.newNumber(), WorkClock())
                        let task = Task { self.end(number, with: await Self.result(of: body, own)) }
                        state.downloads[number] = SharedFetchesState.Download(
                            key: key,
                            ticket: ticket,
                            clock: own,
                            task: task,
                            waiters: [waiter: continuation]
                        )
                        state.newest[key] = number
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
        guard let ended = state.withLock({ $0.remove(number) }) else { return }
        for waiter in ended.waiters.values { waiter.resume(with: result.map { $0.begun(with: ended.ticket) }) }
    }

    private static func result(of body: Body, _ clock: WorkClock) async -> Result<FetchedSource, any Error> {
        do { return .success(try await body(clock)) } catch { return .failure(error) }
    }
}

/// Identifies fetches that lead to the same download, compared byte by byte.
struct SharedFetchKey: Hashable, Sendable {
    let source: ExactText
    let headers: [ExactText: ExactText]
    /// An overlay must not wait for a download that waits for room, since its job already holds a picture.
    let purpose: FetchPurpose
}

/// The downloads under way and their waiters. A value under the lock of ``SharedFetches``.
struct SharedFetchesState {
    typealias Waiter = CheckedContinuation<FetchedSource, any Error>

    struct Download {
        let key: SharedFetchKey
        let ticket: FetchTicket
        let clock: WorkClock
        let task: Task<Void, Never>
        var waiters: [Int: Waiter]
    }

    var downloads: [Int: Download] = [:]
    /// The latest download of each key. A ticket that may not join it may not join an older one either.
    var newest: [SharedFetchKey: Int] = [:]
    private var lastNumber = 0

    mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Removes a waiter, and returns it with the download if no other waiter is left; nil if it does not wait (any more).
    mutating func leave(_ waiter: Int) -> (continuation: Waiter, abandoned: Task<Void, Never>?)? {
        guard let number = downloads.first(where: { $0.value.waiters[waiter] != nil })?.key,
            let continuation = downloads[number]?.waiters.removeValue(forKey: waiter)
        else { return nil }
        let isAbandoned = downloads[number]?.waiters.isEmpty == true
        return (continuation, isAbandoned ? remove(number)?.task : nil)
    }

    /// Removes a finished download; nil if it was abandoned before.
    mutating func remove(_ number: Int) -> Download? {
        guard let download = downloads.removeValue(forKey: number) else { return nil }
        if newest[download.key] == number { newest[download.key] = nil }
        return download
    }
}
