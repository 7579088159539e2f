internal import CameoStore
internal import Foundation

// DESIGN. SQLite tells nobody that another process has committed; one has to ask (`PRAGMA data_version`,
// https://www.sqlite.org/pragma.html#pragma_data_version). A page of a thousand thumbnails that wait would ask a
// thousand times as often, so all that wait in one client share one timer and one question.
actor StoreChanges {
    static let interval = Duration.milliseconds(20)

    private let store: any Store
    private var look: Task<Result<Int, StoreError>, Never>?

    init(store: any Store) {
        self.store = store
    }

    /// A number that is another one after anybody's commit.
    func current() async throws(StoreError) -> Int { try await store.version() }

    /// Returns once the store is at another version than `seen`.
    ///
    /// - Throws: `CancellationError` of the task that waits, within one interval; `StoreError`.
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
}
