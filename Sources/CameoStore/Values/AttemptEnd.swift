package import CameoModel
package import Foundation

/// How an attempt without thumbnails ends.
package enum AttemptEnd: Sendable {
    /// The job waits until a time.
    case retry(JobFailure, at: Date)
    case discard(JobFailure)
    /// The job is given back unharmed: the attempt is not charged.
    case release
}
