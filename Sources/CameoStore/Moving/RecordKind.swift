// DESIGN. Engines differ in their tables, but keep the same things, and number them alike: an id of a job, queue, lane or
// batch is a number that one store issues, so it is kept in a move, and whatever names it with it. A kind is named as
// the table that has it, and its fields as the columns. What follows from other records (counts of jobs, heads of lanes)
// is no field; the receiving engine computes it. What belongs to one place or process is none either: workers and their
// claims, of which there are none during a move; beginnings of downloads; which connection numbers the changes.
// `MoveTests` compares this list with all columns of both engines.

/// What a store keeps, in an order in which each record comes after those that it refers to.
package enum RecordKind: String, CaseIterable, Hashable, Sendable, Encodable {
    case queue
    /// How often jobs of a queue have ended.
    case queueCount = "queue_count"
    case key
    case lane
    case batch
    case job
    case upload
    case accepted
    case firstReceipt = "first_receipt"
    case task
    case outcome
    case attempt
    case counter
    case change
    case batchJob = "batch_job"
    case ingredient
    case jobHook = "job_hook"
    case delivery
    /// Without its bytes, which travel beside the record.
    case blob
    case thumbnail
    case source
    case sourceFailure = "source_failure"
    case orphan
    case epoch
    /// Sizes of the cache that only grow.
    case total
    /// The highest numbers issued: ids of jobs and uploads, and of fetches (invariant I4).
    case number

    /// The names of the totals that are records; others follow from the rows.
    package static let totals = ["source_bytes_evicted", "sources_evicted"]
    /// The names of the numbers, in their order.
    package static let numbers = ["job", "source_seen", "upload"]

    /// The kind after this one; nil after the last.
    package var next: RecordKind? {
        let all = Self.allCases
        return all.firstIndex(of: self).flatMap { $0 + 1 < all.count ? all[$0 + 1] : nil }
    }

    /// The maximum number of records of a page.
    package var pageLength: Int {
        switch self {
        case .upload: 100
        case .blob: 256
        default: 2_000
        }
    }

    /// The size in bytes from which on a page gets no further record.
    package static let pageSize = 4 * 1_048_576
}

extension RecordKind {
    /// The kinds of which a new store has no record.
    package static let ofANewStore = allCases.filter { ![.counter, .epoch, .total, .number].contains($0) }
}
