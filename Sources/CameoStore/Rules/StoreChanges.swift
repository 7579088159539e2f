// DESIGN. SQLite tells nobody that another process has committed; one has to ask (`PRAGMA data_version`,
// https://www.sqlite.org/pragma.html#pragma_data_version). A page of a thousand thumbnails that wait would ask a
// thousand times as often, so all that wait in one program share one timer and one question.

/// Tells those that wait when any process has committed.
package actor StoreChanges {
    static let interval = Duration.milliseconds(20)

    private let store: any AnyStore
    private var look: Task<Result<Int, StoreError>, Never>?

    package init(store: any AnyStore) {
        self.store = store
    }

    /// A number that is another one after anybody's commit.
    package func current() async throws(StoreError) -> Int { try await store.version() }

    /// Returns once the store is at another version than `seen`.
    ///
    /// - Throws: `CancellationError` of the task that waits, within one interval; `StoreError`.
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
            // Nobody cancels this task: those that wait go away by themselves, and it ends soon.
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

    /// What a look finds, looking again after each commit until it finds something; nil when it has not in this time.
    nonisolated package func first<Value: Sendable>(
        within patience: Duration,
        _ look: () async throws -> Value?
    ) async throws -> Value? {
        let deadline = ContinuousClock.now + patience
        while true {
            // Before the look: a commit between the two is seen again rather than missed.
            let version = try await current()
            if let found = try await look() { return found }
            guard try await isChanged(after: version, before: deadline) else { return nil }
        }
    }

    nonisolated private func isChanged(after version: Int, before deadline: ContinuousClock.Instant) async throws
        -> Bool
    {
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return false }
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                _ = try await self.next(after: version)
                return true
            }
            group.addTask {
                try await Task.sleep(for: left)
                return false
            }
            return try await group.next() ?? false
        }
    }
}
