package import CameoModel
package import Foundation

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
