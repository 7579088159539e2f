package import CameoModel

/// Operations for the delivery of jobs' ends to hooks. The delivery itself is entered by whatever ends the job, in the
/// same transaction.
package protocol HookStore: AnyStore {
    /// Records the hooks that a worker can deliver to, in place of those recorded before.
    func note(hooks: [String], of worker: String) async throws(StoreError)
    /// Claims deliveries that are due, oldest first: for each hook up to a number. A claim is released if the worker
    /// dies, or is silent beyond its lease (invariant I7).
    func claimDeliveries(_ room: [String: Int], for worker: String) async throws(StoreError) -> [ClaimedDelivery]
    /// The message to deliver.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)`` if the job was removed meanwhile.
    func message(of delivery: ClaimedDelivery) async throws(StoreError) -> HookDelivery
    /// Ends a try.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    func settle(_ delivery: ClaimedDelivery, as end: DeliveryEnd) async throws(StoreError)
    /// The hooks that a delivery, a queue or a worker names, sorted by name, each with up to `failures` of its latest
    /// failures.
    func hooks(failures: Int) async throws(StoreError) -> [HookReport]
    /// Makes deliveries that were given up wait again, and those that wait due at once; their age counts from now.
    /// Returns their number.
    func retryDeliveries(_ choice: DeliveryChoice) async throws(StoreError) -> Int
    /// Sets the hook that is told of the end of each job that the queue accepts from now on; nil for none.
    func setHook(_ hook: String?, ofQueue queue: String, unknown: UnknownQueue) async throws(StoreError)
}
