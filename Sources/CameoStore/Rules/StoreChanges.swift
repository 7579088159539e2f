package import CameoModel

// DESIGN. SQLite does not notify a process of another's commits; it must be polled (`PRAGMA data_version`,
// https://www.sqlite.org/pragma.html#pragma_data_version). A page with a thousand pending thumbnails would poll a
// thousand times as often, so all waiters in a process share one timer and one query.

/// Notifies waiters when any process commits to the store.
package actor StoreChanges {
    static let interval = Duration.milliseconds(20)

    private let store: any AnyStore
    private var look: Task<Result<Int, StoreError>, Never>?

    package init(store: any AnyStore) {
        self.store = store
    }

    /// The store's version, a number that changes with every commit of any process.
    package func current() async throws(StoreError) -> Int { try await store.version() }

    /// Waits until the store's version differs from `seen`, and returns the new one.
    ///
    /// - Throws: `CancellationError` within one interval of the waiting task's cancellation; `StoreError`.
    package func next(after seen: Int) async throws -> Int {
        while true {
            try Task.checkCancellation()
            let version = try await nextLook().value.get()
            if version != seen { return version }
        }
    }

    private func nextLook() -> Task<Result<Int, StoreError>, Never> {
        if let look { return look }
        let next = Task { () -> Result<Int, StoreError> in
            // Nothing cancels this task: waiters leave on their own, and it ends within one interval.
            try? await Task.sleep(for: Self.interval)
            look = nil
            do throws(StoreError) {
                return .success(try await store.version())
            } catch {
                return .failure(error)
            }
        }
        look = next
        return next
    }

    /// Calls `look` now and after each commit until it returns a value; returns nil if it has not within `patience`.
    nonisolated package func first<Value: Sendable>(
        within patience: Duration,
        _ look: () async throws -> Value?
    ) async throws -> Value? {
        let deadline = ContinuousClock.now + patience
        while true {
            // The version is read first, so a commit between the two causes another look and is not missed.
            let version = try await current()
            if let found = try await look() { return found }
            repeat {
                guard ContinuousClock.now < deadline else { return nil }
                try Task.checkCancellation()
            } while try await nextLook().value.get() == version
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
