package import CameoModel
package import Foundation

/// A delivery claimed by a worker.
package struct ClaimedDelivery: Hashable, Sendable {
    /// What is told.
    package enum End: Hashable, Sendable {
        case job(Int64, state: JobState, at: Date, failure: JobFailure?)
        case batch(BatchEnd)
    }

    /// The delivery's number in its store.
    package let number: Int64
    /// See ``HookDelivery/id``.
    package let id: String
    package let worker: String
    package let hook: String
    package let end: End
    /// The job whose end is told; nil: it is that of a batch.
    package var jobID: Int64? { if case .job(let id, _, _, _) = end { id } else { nil } }
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
        hook: String,
        end: End,
        since: Date,
        attempt: Int,
        failures: Int
    ) {
        (self.number, self.id, self.worker, self.hook, self.end) = (number, id, worker, hook, end)
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
