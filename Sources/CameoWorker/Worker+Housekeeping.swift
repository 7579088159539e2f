internal import CameoStore
internal import Foundation

extension Worker {
    /// A blob that nothing names may yet be named by a transaction that has begun (invariant I6).
    private static let gracePeriod = TimeInterval(3_600)
    /// What one transaction removes: others wait for the write lock meanwhile.
    private static let step = 16

    /// Removes a few originals that are over the budget, and a few blobs that nothing names any more. Several workers may
    /// do so at one time.
    ///
    /// - Returns: whether none is left for now.
    func keepHouse() async throws(StoreError) -> Bool {
        var isWithinBudget = true
        if let budget = configuration.cacheBudget {
            isWithinBudget = try await store.evictSources(over: budget, atMost: Self.step).isWithinBudget
        }
        let time = store.clock.now().addingTimeInterval(-Self.gracePeriod)
        let collected = try await store.collectBlobs(unreferencedSince: time, atMost: Self.step)
        return isWithinBudget && collected.candidates < Self.step
    }
}
