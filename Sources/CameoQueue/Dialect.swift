internal import CameoModel

// DESIGN. What a rule of the queue cannot say for every database stands here by the name of what differs: fragments of
// statements, numbers, and what tables keep. An engine hands over its own; no rule asks which engine it is on.

/// How an engine's database says what the rules of the queue need.
package protocol Dialect: Sendable {
    // MARK: What it keeps and how

    /// Whether each lane has a stored head, and not only those of keys.
    var everyLaneHasHead: Bool { get }
    /// Whether statements name their indexes, because its planner knows nothing of how the rows are distributed.
    var namesIndexes: Bool { get }
    /// Why a column of text or JSON takes no bytes that are not UTF-8; nil if it does. Then JSON is read as bytes, because such
    /// text would come repaired, as a different request.
    var refusalOfOtherBytes: String? { get }
    /// How many rows of the feed one transaction removes.
    var changesOfAStep: Int { get }

    // MARK: Jobs

    /// Inserts a task (``TaskRow/insertion(after:)``).
    var insertionOfTask: String { get }
    /// Inserts the lane of a queue, `?1`, a tenant, `?2`, and a key, `?3`.
    var insertionOfLane: String { get }
    /// What follows FROM task to select the job that waits for a unique key, `?1`.
    var waitingByKey: String { get }
    /// The number of the last fetch that has begun.
    var lastFetch: String { get }
    /// Counts a fetch, and returns its number.
    var nextFetch: String { get }
    /// The table of the jobs, or what shows as much of each as the role may see, as `job`.
    var jobs: String { get }
    /// The jobs that were not accepted yet, as `job`.
    var arrivedJobs: String { get }
    /// The first job, in a row of `forget`, that others may have been accepting when it was inserted; NULL: none was.
    var arriving: String { get }
    /// What follows FROM to select the jobs that were not accepted yet, with the tables `job` and `job_status`.
    var arrivals: String { get }
    /// Selects what accepted jobs ask for: `job` and `thumbnail`.
    var askedThumbnails: String { get }
    /// When a row of `job` is due by its request, in milliseconds since 1970.
    var dueByRequest: String { get }
    /// The name of what a job's request asks for, in the tables `job` and one whose `id` is the job's.
    var source: String { get }
    /// A job's request as bytes: text that is not UTF-8 would come repaired, as a different request.
    var requestBytes: String { get }
    /// The number of bytes of a row of `upload`.
    var lengthOfData: String { get }
    /// A field of a request; NULL unless it is text.
    func field(_ name: String) -> String
    /// The condition that a request has a label, which is a parameter.
    func hasLabel(_ place: String) -> String
    /// A field of a request that is a number; NULL otherwise.
    func number(_ name: String) -> String
    /// The table of the attempts that did not end as their jobs did.
    var earlierAttempts: String { get }
    /// Selects the times of the jobs that were completed last, `?1` of them: `wait`, `fetch_ms` and so on.
    var stagesOfLatest: String { get }
    /// The condition that a row of `queue` has no job.
    var isEmptyQueue: String { get }
    /// The condition that a row of `queue` has as many running jobs as its limit allows.
    var isFullQueue: String { get }
    /// The number of running jobs of a row of `key`.
    var runningOfKey: String { get }
    /// The queues of a row of `worker`, as JSON, and the condition that a value is among them.
    var queuesOfWorker: String { get }
    func takesQueue(_ name: String) -> String

    // MARK: Counts and the feed

    /// The table of the counts of all rows.
    var totals: String { get }
    /// Adds `?2` to the count `?1` of all rows.
    var additionToTotal: String { get }
    /// The table with the counts of each queue.
    var queueCounts: String { get }
    /// The column of the feed by which its rows follow each other.
    var changeNumber: String { get }
    /// Selects the number of the last change.
    var lastChange: String { get }
    /// The changes after a number, `?1`, at most `?2`: `seq`, `job_id`, `state` and `at`.
    var changesAfter: String { get }
    /// Picks one change of each of `?1` equal parts of the `?3` changes from `?2` on, at a place that the golden ratio
    /// scatters: claims and completions alternate regularly, and equal steps might meet only one of them. Selects for each
    /// state the changes of jobs that ran (`jobs`), the time of the last, and the sum of the times since the change before,
    /// none of which counts as more than `?4` milliseconds.
    var sampleOfChanges: String { get }

    // MARK: Pictures. An index may have digests in place of texts that may be too long for an entry.

    /// A text in an index of keys.
    func key(_ column: String) -> String
    /// The condition that a text in such an index is a parameter.
    func isText(_ column: String, _ place: String) -> String
    /// The rows of a URI and scope for those who may read no other rows: the scope is empty.
    var knownSource: String { get }
    /// The thumbnails that were made from a source, which is `?1`.
    var thumbnailOfSource: String { get }
    /// What sorts thumbnails by source, and what precedes a condition that a source is from `?1` to `?2`.
    var orderOfSources: String { get }
    var rangeOfSources: String { get }
    /// The source of a row of `shown_thumbnail AS thumbnail` in an index by which everybody may search, and the column with all of
    /// it; what of a parameter is compared with the former; and a source as that column has it.
    var searchedSource: String { get }
    var wholeSource: String { get }
    func beginning(of place: String) -> String
    func searched(_ source: String) -> String
    /// The condition that a row of `source_failure` is one of some, which are selected by what follows their columns.
    func isSourceFailure(_ selected: String) -> String
    /// A row of a table with these columns as JSON; and what selects the row that the JSON `?1` is, with WHERE or FROM.
    func json(of table: String, _ columns: [String]) -> String
    func row(of table: String, _ columns: [String]) -> String

    // MARK: Values

    /// False, as the columns have it.
    var no: String { get }
    /// A column with JSON, as text.
    func text(_ column: String) -> String
    /// JSON that is a parameter.
    func json(_ place: String) -> String
    /// The elements of the list that is a parameter, as rows with an `id`.
    func elements(_ place: String, _ list: SQLList) -> String
    /// The condition that a value is in the list that is a parameter.
    func isIn(_ place: String, _ list: SQLList) -> String
    /// The values of a column of text as one, a line each, in the order of a column if the database can.
    func lines(_ column: String, by order: String) -> String
    /// The type of bytes.
    var bytes: String { get }
    /// The ids of the thumbnails that a job asked for, one after another; the message of a row of `outcome`.
    func idsOfAccepted(_ job: String) -> String
    var messageOfOutcome: String { get }
    /// Locks the rows that are selected, and passes over those that another transaction has locked, where that is possible.
    var locking: String { get }
    var skippingLocked: String { get }
}

/// The type of the elements of a list that is a parameter.
package enum SQLList: Sendable { case integers, texts }

extension Dialect {
    /// Names the index to use; nil: none.
    package func indexed(by index: String?) -> String {
        guard namesIndexes else { return "" }
        return index.map { "INDEXED BY \($0)" } ?? "NOT INDEXED"
    }

    /// The number of the last change that has expired: one before `?1`, without one of the time from there to now, `?2`, before
    /// it. Others were noted by a clock that was wrong. Never that of the last of all, which numbers the next.
    var lastExpiredChange: String {
        """
        SELECT max(\(changeNumber)) FROM change WHERE at < ?1 AND \(changeNumber) < coalesce(
          (SELECT \(changeNumber) FROM change WHERE at >= ?1 AND at <= ?2 ORDER BY \(changeNumber) LIMIT 1),
          (SELECT max(\(changeNumber)) FROM change))
        """
    }
    /// Removes the first `?2` rows of the feed, up to the one of this number. Whatever the times are, no gap is left.
    var removalOfChanges: String {
        """
        DELETE FROM change WHERE \(changeNumber) IN (
          SELECT \(changeNumber) FROM change WHERE \(changeNumber) <= ?1 ORDER BY \(changeNumber) LIMIT ?2)
        """
    }

    /// The number of the last fetch that had begun when a job was asked for, as far as it matters: one that is accepted late was
    /// asked for before what was forgotten since.
    package static func fetchAfter(_ job: String, _ lastFetch: String) -> String {
        """
        coalesce((SELECT min(seen) - 1 FROM forget WHERE done_at IS NULL AND last_job >= \(job)), \(lastFetch))
        """
    }

    func fetchAfter(_ job: String) -> String { Self.fetchAfter(job, lastFetch) }

    /// Whether a picture lies in `upload`.
    package var hasUnreadUploads: String { "EXISTS (SELECT 1 FROM upload WHERE data IS NOT NULL)" }
    /// The stop that the worker `?1` was asked for.
    package var stopOfWorker: String { "SELECT stop_mode FROM worker WHERE id = ?1" }
    /// The claims that the worker `?1` holds.
    package var claimsOfWorker: String {
        "SELECT id, token FROM task \(indexed(by: "task_running")) WHERE \(TaskRow.isRunning) AND worker = ?1"
    }

    // Conditions for the rows of a source: `?1` is the URI, `?2` the scope, and `?3` the variant.
    /// The rows of a URI, for all credentials.
    var sourceOfURI: String { isText("uri", "?1") }
    package var sourceOfKey: String { "\(sourceOfURI) AND scope = ?2" }
    var oneSource: String { "\(sourceOfKey) AND \(isText("variant", "?3"))" }

    /// The condition of queues or keys to reopen, including those that a clock set back would keep closed for long.
    package func isOpeningDue(at time: String) -> String {
        "opens_at <> 0 AND (opens_at <= \(time) OR opens_at > \(time) + rate_period + 1)"
    }

    /// Whether there are such rows.
    package func mayOpen(at time: String) -> String {
        [LimitedTable.queue, .key].map { table in
            let index = indexed(by: "\(table.rawValue)_opening")
            return "EXISTS (SELECT 1 FROM \(table.rawValue) \(index) WHERE \(isOpeningDue(at: time)))"
        }
        .joined(separator: " OR ")
    }
}
