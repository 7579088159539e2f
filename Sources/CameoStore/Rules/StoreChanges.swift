package import CameoModel

// DESIGN. A page with a thousand pending thumbnails would look a thousand times after every commit. So all who wait in a
// process share one reader of the change feed, and whoever waits for a job looks again once that job has ended; whoever
// waits for anything else looks after commits, in turns. All look once more at the end of their time, because another job
// may have made what they wait for.

/// Notifies waiters of changes that any process commits to the store.
package actor StoreChanges {
    private struct Waiter {
        /// Whether it waits for any change, and not for the end of a job.
        let isForAny: Bool
        /// The job whose end it waits for; nil while that is not known, when any change counts too.
        var job: Int64?
        let deadline: ContinuousClock.Instant
        /// Whether it has to look: something may have changed since it looked last.
        var isDue = false
    }

    /// The time between two readings of a busy store's feed, and between two looks of those who wait for any change.
    private static let turn = Duration.milliseconds(25)
    /// The turns until the feed is read without a signal, which may be missing.
    private static let turnsPerReading = 40
    /// The number of changes read at once.
    private static let page = 5_000

    private let store: any ReaderStore
    private var waiters: [Int: Waiter] = [:]
    /// Those that wait until they are due. Not in ``waiters``, which are gone through forty times a second.
    private var asleep: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastWaiter = 0
    private var follower: Task<Void, Never>?
    /// The last change that was read; nil before the first, and if changes may have been missed.
    private var cursor: Int64?
    private var hasNews = false
    private var turns = 0

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
        let waiter = await enter(until: .now + patience, isForAny: job == nil)
        do {
            var found = try await look()
            var isOver = false
            while found == nil, !isOver {
                if let job { await watch(try await store.places(of: [job])[job]?.job ?? job, for: waiter) }
                isOver = try await !isDue(waiter)
                found = try await look()
            }
            await leave(waiter)
            return found
        } catch {
            await leave(waiter)
            throw error
        }
    }

    // MARK: - Waiters

    private func enter(until deadline: ContinuousClock.Instant, isForAny: Bool) -> Int {
        lastWaiter += 1
        waiters[lastWaiter] = Waiter(isForAny: isForAny, deadline: deadline)
        follower = follower ?? follow()
        return lastWaiter
    }

    private func leave(_ waiter: Int) {
        waiters[waiter] = nil
        guard waiters.isEmpty else { return }
        follower?.cancel()
        (follower, cursor) = (nil, nil)
    }

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
        guard let deadline = waiters[waiter]?.deadline, ContinuousClock.now < deadline else { return false }
        waiters[waiter]?.isDue = false
        waiters[waiter]?.job = nil
        return true
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
        Task { [weak self, store] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [weak self] in
                    for await _ in store.wakeUps(pause: { Self.turn }) { await self?.readFeed() }
                }
                while (try? await Task.sleep(for: Self.turn)) != nil { await self?.takeTurn() }
                group.cancelAll()
            }
        }
    }

    private func takeTurn() async {
        turns += 1
        if turns.isMultiple(of: Self.turnsPerReading) { await readFeed() }
        let (now, hadNews) = (ContinuousClock.now, hasNews)
        hasNews = false
        wake { ($0.isForAny && hadNews) || now >= $0.deadline }
    }

    /// Wakes those whose jobs have ended since the last reading, or all if that is not known. Two readings at a time wake
    /// some once more.
    private func readFeed() async {
        hasNews = true
        do throws(StoreError) {
            guard var last = cursor else {
                cursor = try await store.lastChange()
                return wake { _ in true }
            }
            while case let changes = try await store.changes(since: last, limit: Self.page), let newest = changes.last {
                let isComplete = changes[0].cursor == last + 1
                last = newest.cursor
                cursor = last
                let ended = Set(changes.lazy.filter(\.state.isFinal).map(\.job))
                wake { !isComplete || $0.job.map(ended.contains) ?? !$0.isForAny }
            }
        } catch {
            // Whoever looks meets the error.
            cursor = nil
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
