package import CameoModel
package import Foundation

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

/// A delivery claimed by a worker.
package struct ClaimedDelivery: Hashable, Sendable {
    /// The delivery's number in its store.
    package let number: Int64
    /// See ``HookDelivery/id``.
    package let id: String
    package let worker: String
    package let jobID: Int64
    package let hook: String
    /// How the job ended.
    package let state: JobState
    package let endedAt: Date
    package let failure: JobFailure?
    /// From when the delivery's age counts.
    package let since: Date
    /// The number of this try, from 1. No two claims of a delivery have the same.
    package let attempt: Int
    /// The number of failed tries in a row before this one.
    package let failures: Int

    package init(
        number: Int64,
        id: String,
        worker: String,
        jobID: Int64,
        hook: String,
        end: (state: JobState, at: Date, failure: JobFailure?),
        since: Date,
        attempt: Int,
        failures: Int
    ) {
        (self.number, self.id, self.worker, self.jobID, self.hook) = (number, id, worker, jobID, hook)
        (state, endedAt, failure) = end
        (self.since, self.attempt, self.failures) = (since, attempt, failures)
    }
}

/// The ways in which a try to deliver ends.
package enum DeliveryEnd: Hashable, Sendable {
    case delivered
    case retry(at: Date, trouble: String)
    case giveUp(trouble: String)
    /// The delivery is released as if it had not been claimed.
    case release
}

/// Which deliveries an operator means.
package enum DeliveryChoice: Hashable, Sendable {
    case all
    case hook(String)
    case ids([String])
}
