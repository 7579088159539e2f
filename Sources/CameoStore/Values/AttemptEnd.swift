package import CameoModel
package import Foundation

/// The ways in which an attempt ends without thumbnails.
package enum AttemptEnd: Sendable {
    /// The job is retried at a time.
    case retry(JobFailure, at: Date)
    case discard(JobFailure)
    /// The job is released; the attempt is not counted.
    case release
    /// The job waits until a time as if it had not been claimed; the attempt is neither counted nor recorded.
    case postpone(until: Date)
    /// The host cannot do it. The job waits for another worker as if it had not been claimed, or is discarded with the
    /// failure of `unable`, and the hosts' names, if every live worker that takes jobs of its queue lacks the same.
    case leave(HostUnable, until: Date)
}
