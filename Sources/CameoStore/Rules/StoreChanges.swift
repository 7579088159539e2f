package import CameoModel

// DESIGN. A page with a thousand pending thumbnails would look a thousand times after every commit. So all who wait in a
// process share one reader of the change feed, and whoever waits for a job looks again once that job has ended; whoever
// waits for anything else looks after commits, in turns. All look once more at the end of their time, because another job
// may have made what they wait for. The turns use no store: time passes also while one does not answer.

/// Notifies waiters of changes that any process commits to the store.
package actor StoreChanges {
    private struct Waiter {
        /// The job whose end it waits for; nil: any change.
        var job: Int64?
        let deadline: ContinuousClock.Instant
        /// Whether it has to look: something may have changed since it looked last.
        var isDue = false
    }

    /// The time between two looks at a store that gives no signal, between two readings of a busy store's feed, and between
    /// two looks of those who wait for any change.
    private static let turn = Duration.milliseconds(25)
    /// The turns after which those who wait for any change look in any case, and after which nobody waits any more.
    private static let manyTurns = 40
    /// The number of changes read at once.
    private static let page = 5_000

    private let store: any ReaderStore
    private var waiters: [Int: Waiter] = [:]
    /// Those that wait until they are due. Not in ``waiters``, which are gone through forty times a second.
    private var asleep: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastWaiter = 0
    private var follower: Task<Void, Never>?
    /// The store's version and the last change that were read; nil before the first, and if changes may have been missed.
    private var seen: (version: Int, cursor: FeedCursor)?
    private var hasNews = false
    private var turns = 0
    private var idleTurns = 0

    package init(store: any ReaderStore) {
        self.store = store
    }

    deinit { follower?.cancel() }

    /// The store's version, a number that changes with every commit of any process.
    nonisolated package func current() async throws(StoreError) -> Int { try await store.version() }

    /// Waits until the store's version differs from `seen`, and returns the new one.
    ///
    /// - Throws: `CancellationError`; `StoreError`.
    nonisolated package func next(after seen: Int) async throws -> Int {
        while true {
            let found = try await first(within: .seconds(3_600)) { [store] in
                let version = try await store.version()
                return version == seen ? nil : version
            }
            if let found { return found }
        }
    }

    /// Calls `look` now, after changes and at the end of `patience`, until it returns a value; returns nil if it has not.
    /// The changes are the end of a job, or of the one that took its place; without a job, all.
    ///
    /// - Throws: `CancellationError`; what `look` throws; `StoreError`.
    nonisolated package func first<Value: Sendable>(
        of job: Int64? = nil,
        within patience: Duration,
        _ look: () async throws -> Value?
    ) async throws -> Value? {
        guard patience > .zero else { return try await look() }
        // It is there before it looks, so that no change in between is missed.
        let waiter = await enter(Waiter(job: job, deadline: .now + patience))
        do {
            var (found, isOver): (Value?, Bool) = (nil, false)
            while true {
                if let job { await watch(try await store.places(of: [job])[job]?.job ?? job, for: waiter) }
                found = try await look()
                if found != nil || isOver { break }
                isOver = try await !isDue(waiter)
            }
            await leave(waiter)
            return found
        } catch {
            await leave(waiter)
            throw error
        }
    }

    // MARK: - Waiters

    private func enter(_ waiter: Waiter) -> Int {
        lastWaiter += 1
        waiters[lastWaiter] = waiter
        follower = follower ?? follow()
        return lastWaiter
    }

    private func leave(_ waiter: Int) { waiters[waiter] = nil }

    private func watch(_ job: Int64, for waiter: Int) { waiters[waiter]?.job = job }

    /// Waits until a waiter has to look again; returns false once its time is over.
    private func isDue(_ waiter: Int) async throws -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard waiters[waiter]?.isDue == false, !Task.isCancelled else { return continuation.resume() }
                asleep[waiter] = continuation
            }
        } onCancel: {
            Task { await self.wake(waiter) }
        }
        try Task.checkCancellation()
        waiters[waiter]?.isDue = false
        return waiters[waiter].map { ContinuousClock.now < $0.deadline } ?? false
    }

    private func wake(_ waiter: Int) {
        waiters[waiter]?.isDue = true
        asleep.removeValue(forKey: waiter)?.resume()
    }

    private func wake(where isMeant: (Waiter) -> Bool) {
        for (number, waiter) in waiters where isMeant(waiter) { wake(number) }
    }

    // MARK: - Following

    private func follow() -> Task<Void, Never> {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        return Task { [weak self, store] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in store.wakeUps(pause: { Self.turn }) { signal.yield() } }
                group.addTask { [weak self] in
                    for await _ in signals { await self?.look() }
                }
                while (try? await Task.sleep(for: Self.turn)) != nil {
                    signal.yield()
                    await self?.takeTurn()
                }
                group.cancelAll()
            }
        }
    }

    private func takeTurn() {
        turns += 1
        idleTurns = waiters.isEmpty ? idleTurns + 1 : 0
        let (now, hadNews) = (ContinuousClock.now, hasNews || turns.isMultiple(of: Self.manyTurns))
        hasNews = false
        wake { ($0.job == nil && hadNews) || now >= $0.deadline }
        guard idleTurns >= Self.manyTurns else { return }
        follower?.cancel()
        (follower, seen, idleTurns) = (nil, nil, 0)
    }

    /// Reads the feed if something has been committed. Wakes those whose jobs have ended since, or all if that is not known.
    private func look() async {
        do throws(StoreError) {
            let version = try await store.version()
            guard version != seen?.version else { return }
            hasNews = true
            guard var last = seen?.cursor else {
                let last = try await store.changes(since: nil, limit: 0).next
                // A follower that has ended in between leaves nothing behind.
                guard !Task.isCancelled else { return }
                seen = (version, last)
                return wake { _ in true }
            }
            var isLast = false
            while !isLast {
                let page = try await store.changes(since: last, limit: Self.page)
                guard !Task.isCancelled else { return }
                isLast = page.changes.count < Self.page
                last = page.next
                let ended = Set(page.changes.lazy.filter(\.state.isFinal).map(\.job))
                wake { page.gap != nil || $0.job.map(ended.contains) ?? false }
            }
            seen = (version, last)
        } catch {
            // Whoever looks meets the error.
            seen = nil
            wake { _ in true }
        }
    }
}

/// A job, or the one that superseded it because it was already waiting for the same thumbnails.
package struct JobPlace: Hashable, Sendable {
    package let job: Int64
    package let state: JobState

    package init(job: Int64, state: JobState) {
        self.job = job
        self.state = state
    }
}
