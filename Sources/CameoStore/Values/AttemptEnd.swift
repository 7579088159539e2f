package import CameoModel
package import Foundation

/// How an attempt without thumbnails ends.
package enum AttemptEnd: Sendable {
    /// The job waits until a time.
    case retry(JobFailure, at: Date)
    case discard(JobFailure)
    /// The job is given back unharmed: the attempt is not charged.
    case release
    /// The job waits until a time, as if it had not been claimed: the attempt is neither charged nor written down.
    case postpone(until: Date)
}
