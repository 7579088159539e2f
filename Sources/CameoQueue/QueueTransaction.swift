package import CameoModel
package import CameoStore

// DESIGN. What a queue does is written here once, over this protocol, and each engine gives its transaction. Statements are
// what both databases understand; their parameters are `?1`, `?2`, …, because SQLite takes `$1` for a name. Calls take
// sets where a database behind a network would need a round trip for each of many rows. Lists are one parameter.

/// A transaction of an engine, for the body of a read or a commit. It blocks, and must not leave the body.
package protocol QueueTransaction: AnyObject {
    associatedtype Row: QueueRow

    /// What the two databases say differently.
    static var dialect: Dialect { get }
    /// The time of the transaction in milliseconds since 1970.
    var now: Int64 { get }

    /// Runs a statement that returns rows.
    ///
    /// - Throws: the engine's error.
    func query(_ sql: String, _ values: [(any SQLBindable)?]) throws -> [Row]
    /// Runs a statement for its effect, and returns the number of rows that it inserted, updated or deleted.
    @discardableResult
    func execute(_ sql: String, _ values: [(any SQLBindable)?]) throws -> Int
    /// Whether there are jobs that other programs have inserted and that were not accepted yet.
    func hasArrivals() throws -> Bool
    /// Writes the history that was recorded and not written yet, so that a statement can read it.
    func flushHistory() throws

    // Names, which are found or created. Who looks one up to insert a row keeps it from being removed.
    func queue(_ name: String) throws -> Int64
    /// Whether a queue that was looked up names a hook.
    func isHooked(queue: Int64) -> Bool
    /// The latest request that names a limit sets it, unless an operator has set one; by default one job runs at a time.
    func key(_ name: String, limit: Int?) throws -> Int64
    func lane(queue: Int64, key: Int64) throws -> Int64
    func batch(_ name: String) throws -> Int64

    /// Inserts the row of a job, and returns its id.
    func insertJob(_ request: String) throws -> Int64
    /// Records what is kept about jobs for as long as their rows exist, and enters them into their batches.
    func record(_ entries: [NewTask]) throws
    /// Selects tasks by what follows FROM, and locks them in a commit.
    func tasks(_ rest: String, _ values: [(any SQLBindable)?]) throws -> [TaskRow]
    /// Takes the task of a claim that is still valid (invariant I1), to settle it.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)``
    func take(_ claim: Claim) throws -> TaskRow
    /// Forgets the claim of a task that does not run any more, so that no other operation of the commit settles it.
    func loseClaim(of task: TaskRow)
    /// Records how the attempt of a running job ended.
    ///
    /// - Returns: false if another program has deleted the job's row; then the task is gone too.
    func close(_ task: TaskRow, as outcome: JobAttempt.Outcome, failure: JobFailure?, timings: AttemptTimings) throws
        -> Bool
    /// Moves a job from the queue to the history, and enters its end (``enter(_:of:from:)``). `before` is its previous
    /// state; nil if it has no task.
    func end(_ task: TaskRow, from before: JobState?, _ end: End) throws
    /// Removes the outcome of a job that is retried; its attempts are kept.
    func removeOutcome(of id: Int64) throws
    /// The hosts of the live workers that take jobs of a task's queue, and of one more, and whether they lack something.
    func hosts(of task: TaskRow, besides worker: String, lacking lack: HostLack) throws -> [(host: String, lacks: Bool)]
    /// Records that thumbnails were used.
    func noteUse(of thumbnails: [ThumbnailID]) throws

    // What follows from a change, which is recorded and written at the end.
    /// Records a job's change of state, where nil means that it has no row, for counts and the change feed. For one that
    /// becomes available use ``move(_:from:to:)`` of its task.
    func move(_ job: QueuedJob, from: JobState?, to: JobState?)
    /// Records an available task, which may now be the first of its lane.
    func raise(_ task: TaskRow)
    /// Records the failure of an attempt or a request.
    func fail(_ code: JobFailure.Code, _ family: StoreCounters.Family)
    /// Records that workers have something to do.
    func wakeWorkers()

    /// Keeps queues, keys, lanes and batches to this transaction until its end.
    func lockNames() throws
    /// Subtracts an outcome whose row is removed from the counts of its queue.
    func forget(_ state: JobState, in queue: Int64)
    /// Adds to the stored counters.
    func add(_ counted: StoreCounters)
    /// Removes source failures that have expired, the first to expire before others, and returns their number.
    func removeFailures(atMost limit: Int) throws -> Int
    /// Removes some changes of the feed older than a time, but never the last, which numbers the next.
    func removeChanges(before limit: Int64) throws -> PruneStep
}

extension QueueTransaction {
    package var dialect: Dialect { Self.dialect }

    package func query(_ sql: String) throws -> [Row] { try query(sql, []) }

    package func close(_ task: TaskRow, as outcome: JobAttempt.Outcome) throws -> Bool {
        try close(task, as: outcome, failure: nil, timings: AttemptTimings())
    }

    @discardableResult
    package func execute(_ sql: String) throws -> Int { try execute(sql, []) }

    /// Runs a statement that returns at most one row of interest.
    package func row(_ sql: String, _ values: [(any SQLBindable)?] = []) throws -> Row? {
        try query(sql, values).first
    }

    /// Runs a statement that returns one column, and reads it as a list.
    package func column<Value: SQLReadable>(_ sql: String, _ values: [(any SQLBindable)?] = []) throws -> [Value] {
        try query(sql, values).map { try $0[0] }
    }

    /// Runs a statement that returns one column, and reads its first value; nil if there is no row or it is NULL.
    package func value<Value: SQLReadable>(_ sql: String, _ values: [(any SQLBindable)?] = []) throws -> Value? {
        try row(sql, values)?[0]
    }
}

/// What the two databases say differently.
package struct Dialect: Sendable {
    /// The type of a list's elements.
    package enum List: String {
        case integers = "bigint[]"
        case texts = "text[]"
    }

    let isSQLite: Bool
    /// What follows FROM to select the jobs that were not accepted yet, with the tables `job` and `job_status`.
    let arrivals: String
    /// The number of running jobs of a row of `key`.
    let runningOfKey: String
    /// The name of what a job's request asks for, in the tables `job` and one whose `id` is the job's.
    let source: String
    /// The condition that a row of `queue` has no job.
    let isEmptyQueue: String
    /// The table with the counts of each queue.
    let queueCounts: String
    /// The number of the last fetch that has begun.
    package let lastFetch: String
    /// A job's request as bytes: text that is not UTF-8 would come repaired, as a different request.
    let requestBytes: String
    /// The table of the attempts that did not end as their jobs did.
    let earlierAttempts: String

    package static func sqlite(arrivals: String) -> Dialect {
        Dialect(
            isSQLite: true,
            arrivals: arrivals,
            runningOfKey: "running",
            source: "json_extract(job.request, '$.source')",
            isEmptyQueue: """
                EXISTS (SELECT 1 FROM queue_count WHERE queue = queue.id
                  AND scheduled + available + running + retryable + completed + discarded + cancelled = 0)
                """,
            queueCounts: "queue_count",
            lastFetch: "(SELECT value FROM sequence WHERE name = 'source_seen')",
            requestBytes: "CAST(request AS BLOB)",
            earlierAttempts: "attempt"
        )
    }

    package static let postgreSQL = Dialect(
        isSQLite: false,
        arrivals: "arrival JOIN job_status ON job_status.id = arrival.id JOIN job ON job.id = arrival.id",
        runningOfKey: "(SELECT count(*) FROM task WHERE task.key = key.id AND key <> 0 AND state = 2)",
        // The function bears what no text can hold, and is slow.
        source: """
            CASE WHEN strpos(job.request::text, '\\u0000') = 0 THEN job.request ->> 'source'
              ELSE field(job.request, 'source') END
            """,
        isEmptyQueue: """
            NOT EXISTS (SELECT 1 FROM accepted WHERE accepted.queue = queue.id)
              AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.queue = queue.id)
            """,
        queueCounts: "queue_total",
        lastFetch: "(SELECT last_value - (NOT is_called)::int FROM source_seen)",
        requestBytes: "convert_to(request::text, 'UTF8')",
        earlierAttempts: "earlier_attempt"
    )

    /// Names the index to use, to SQLite, whose planner knows nothing of how the rows are distributed.
    package func indexed(by index: String?) -> String {
        guard isSQLite else { return "" }
        return index.map { "INDEXED BY \($0)" } ?? "NOT INDEXED"
    }

    /// A field of a request; NULL unless it is text.
    func field(_ name: String) -> String {
        isSQLite
            ? "iif(json_type(request, '$.\(name)') IS 'text', json_extract(request, '$.\(name)'), NULL)"
            : "field(request, '\(name)')"
    }

    /// JSON that is a parameter.
    func json(_ place: String) -> String { isSQLite ? place : "\(place)::json" }

    /// Locks the rows that are selected.
    var locking: String { isSQLite ? "" : "FOR UPDATE" }
    /// Locks the rows that are selected, and passes over those that another transaction has locked.
    var skippingLocked: String { isSQLite ? "" : "FOR UPDATE SKIP LOCKED" }

    /// The condition that a value is in the list that is a parameter.
    package func isIn(_ place: String, _ list: List) -> String {
        isSQLite ? "IN (SELECT value FROM json_each(\(place)))" : "= ANY(\(place)::\(list.rawValue))"
    }
}
