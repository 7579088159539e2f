package import CameoModel

/// The result of making a job wait again.
package enum Settlement: Hashable, Sendable {
    case asAsked
    /// The job was discarded: no live worker can do it (``AttemptEnd/leave(_:until:)``).
    case discarded(JobFailure)
    /// The job was cancelled because another was already waiting for the same thumbnails.
    case superseded(by: Int64)

    package init(_ duplicate: Int64?) {
        self = duplicate.map { .superseded(by: $0) } ?? .asAsked
    }
}
