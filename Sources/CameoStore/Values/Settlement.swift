/// What became of a job that was to wait again.
package enum Settlement: Hashable, Sendable {
    case asAsked
    /// It is cancelled: another job was waiting for the same thumbnails already.
    case superseded(by: Int64)

    package init(_ duplicate: Int64?) {
        self = duplicate.map { .superseded(by: $0) } ?? .asAsked
    }
}
