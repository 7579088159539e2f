/// The result of making a job wait again.
package enum Settlement: Hashable, Sendable {
    case asAsked
    /// The job was cancelled because another was already waiting for the same thumbnails.
    case superseded(by: Int64)

    package init(_ duplicate: Int64?) {
        self = duplicate.map { .superseded(by: $0) } ?? .asAsked
    }
}
