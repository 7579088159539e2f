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
}
