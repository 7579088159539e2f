internal import GRDB

/// What became of a job that was to wait again.
package enum Settlement: Hashable, Sendable {
    case asAsked
    /// It is cancelled: another job was waiting for the same thumbnails already.
    case superseded(by: Int64)

    /// Settles the matter for a job that waits now.
    init(of job: Int64, now: Int64, _ db: Database) throws {
        self = try Store.standOrYield(job, now: now, db).map { .superseded(by: $0) } ?? .asAsked
    }
}
