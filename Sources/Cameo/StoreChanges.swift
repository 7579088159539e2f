internal import CameoStore
internal import Foundation

// DESIGN. SQLite does not notify other processes of a commit; they have to poll (`PRAGMA data_version`,
// https://www.sqlite.org/pragma.html#pragma_data_version). A page that waits for a thousand thumbnails would poll a
// thousand times as often, so all waiting tasks of one client share one timer and one query.
actor StoreChanges {
    static let interval = Duration.milliseconds(20)

    private let store: any Store
    private var look: Task<Result<Int, StoreError>, Never>?

    init(store: any Store) {
        self.store = store
    }

    /// A number that changes with every commit of any process.
    func current() async throws(StoreError) -> Int { try await store.version() }

    /// Waits until the store's version differs from `seen`, and returns the new one.
    ///
    /// - Throws: `CancellationError` within one interval after the task is cancelled; `StoreError`.
    func next(after seen: Int) async throws -> Int {
        while true {
            try Task.checkCancellation()
            let version = try await nextLook().value.get()
            if version != seen { return version }
        }
    }

    private func nextLook() -> Task<Result<Int, StoreError>, Never> {
        if let look { return look }
        let next = Task { () -> Result<Int, StoreError> in
            // This task is never cancelled: it ends soon, and cancelled waiters leave by themselves.
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
}
