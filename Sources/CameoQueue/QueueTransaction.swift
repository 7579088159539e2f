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
    var ledger: Ledger { get set }

    /// Runs a statement that returns rows.
    ///
    /// - Throws: the engine's error.
    func query(_ sql: String, _ values: [(any SQLBindable)?]) throws -> [Row]
    /// Runs a statement for its effect, and returns the number of rows that it inserted, updated or deleted.
    @discardableResult
    func execute(_ sql: String, _ values: [(any SQLBindable)?]) throws -> Int
    /// Runs a body whose error undoes what it did, and nothing else.
    func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value
    /// What an error says that concerns the values of one row rather than the database; nil for another error.
    func objection(_ error: any Error) -> String?
    /// Whether there are jobs that other programs have inserted and that were not accepted yet.
    func hasArrivals() throws -> Bool
    /// Writes the history that was recorded and not written yet, so that a statement can read it.
    func flushHistory() throws

    /// Keeps queues, keys, lanes and batches from being removed until the end of the transaction.
    func holdNames() throws
    /// Inserts the row of a job, and returns its id.
    func insertJob(_ request: String) throws -> Int64
    /// Records what is kept about jobs for as long as their rows exist, and enters them into their batches.
    func record(_ entries: [NewTask]) throws
    /// Selects tasks by what follows FROM, and locks them in a commit.
    func tasks(_ rest: String, _ values: [(any SQLBindable)?]) throws -> [TaskRow]
    /// The task of a claim that is still valid (invariant I1).
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)``
    func task(of claim: Claim) throws -> TaskRow
    /// Gives a running job another unique key.
    func rename(_ claim: Claim, to key: String?) throws
    /// Enters requests, together where the engine can.
    func enter(_ new: [CheckedRequest], _ made: MadeThumbnails) throws -> [EnqueueReceipt]
    /// Keeps another process from accepting the same request at the same time.
    func lock(_ receipt: FirstReceipt) throws
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
    /// The condition that the lease of a row of `worker` runs, and its values, the first of which is `?4`.
    var runningLease: (condition: String, values: [(any SQLBindable)?]) { get }
    /// Records that thumbnails were used, unless a use was recorded within the last hour.
    func noteUse(of thumbnails: [ThumbnailID]) throws
    /// Opens or closes what a changed limit or rate opens or closes, where that is stored.
    func settle(_ table: LimitedTable, _ id: Int64) throws

    /// Whether a registered worker is alive.
    func isAlive(_ worker: String, leaseUntil: Int64) throws -> Bool
    /// The numbers of the changes at or after a time, found by bisection: the times of the feed grow with its numbers. Nil if
    /// there are none.
    func numbersOfChanges(since time: Int64) throws -> ClosedRange<Int64>?
    /// The version of the tables.
    func schemaVersion() throws -> Int
    /// ``StatusReport/commitWaitSeconds``.
    func commitWaitSeconds() throws -> Double?

    /// Whether the end of a job of a queue makes room for another.
    func isLimited(queue: Int64) -> Bool
    /// Records that workers have something to do.
    func wakeWorkers()

    /// Keeps queues, keys, lanes and batches to this transaction until its end; false if others hold them for long.
    func lockNames() throws -> Bool
    /// A page of records, those of blobs without their bytes; none after the last.
    func records(of kind: RecordKind, after last: StoreRecord?, limit: Int) throws -> [StoreRecord]
}

extension QueueTransaction {
    package var dialect: Dialect { Self.dialect }

    package func query(_ sql: String) throws -> [Row] { try query(sql, []) }

    package func close(_ task: TaskRow, as outcome: JobAttempt.Outcome) throws -> Bool {
        try close(task, as: outcome, failure: nil, timings: AttemptTimings())
    }

    /// Takes the task of a claim that is still valid, to settle it.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)``
    package func take(_ claim: Claim) throws -> TaskRow {
        let task = try task(of: claim)
        loseClaim(of: task)
        return task
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
package final class Dialect: Sendable {
    /// The type of a list's elements.
    package enum List: String {
        case integers = "bigint[]"
        case texts = "text[]"
    }

    let isSQLite: Bool
    /// The condition of the rows of `job` that were not accepted yet, in SQLite.
    private let waits: String
    /// The number of the last fetch that has begun.
    package let lastFetch: String

    // Texts of statements that each job takes, put together once.
    let insertionOfTask: String
    let waitingByKey: String
    let insertionOfLane: String

    private init(isSQLite: Bool, waits: String = "", lastFetch: String) {
        (self.isSQLite, self.waits, self.lastFetch) = (isSQLite, waits, lastFetch)
        insertionOfTask = """
            INSERT INTO task(id, queue, key, lane, state, priority, due, rank, max_attempts, tries, attempted_at,
              refresh, unique_key, upload, hooked, fetch_after)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, \(lastFetch))
            """
        insertionOfLane =
            isSQLite
            ? """
            INSERT INTO lane(queue, key, shut) VALUES (?1, ?2, coalesce(
              (SELECT running >= max_running OR opens_at <> 0 FROM key WHERE id = ?2), 0))
            """
            : "INSERT INTO lane(queue, key) VALUES (?1, ?2) ON CONFLICT DO NOTHING"
        waitingByKey = "\(isSQLite ? "INDEXED BY task_unique" : "") WHERE unique_key = ?1 AND \(TaskRow.isWaiting)"
    }

    /// The dialect of SQLite; `waits` is the condition of the rows of `job` that were not accepted yet.
    package static func sqlite(waits: String) -> Dialect {
        Dialect(isSQLite: true, waits: waits, lastFetch: "(SELECT value FROM sequence WHERE name = 'source_seen')")
    }

    package static let postgreSQL = Dialect(
        isSQLite: false,
        lastFetch: "(SELECT last_value - (NOT is_called)::int FROM source_seen)"
    )

    /// The table of the jobs, or what shows as much of each as the role may see, as `job`.
    var jobs: String { isSQLite ? "job" : "job_request AS job" }
    /// The jobs that were not accepted yet, as `job`.
    var arrivedJobs: String {
        isSQLite
            ? "(SELECT job.* FROM job WHERE \(waits)) AS job"
            : "(SELECT job.* FROM arrival JOIN job_request AS job ON job.id = arrival.id) AS job"
    }
    /// What follows FROM to select the jobs that were not accepted yet, with the tables `job` and `job_status`.
    var arrivals: String {
        isSQLite
            ? "job_status JOIN job ON job.id = job_status.id AND \(waits)"
            : "arrival JOIN job_status USING (id) JOIN job_request AS job USING (id)"
    }
    /// When a row of `job` is due by its request, in milliseconds since 1970.
    var dueByRequest: String {
        isSQLite
            ? """
            max(job.created_at, coalesce(
              CAST((julianday(\(field("runAt"))) - 2440587.5) * 86400000.0 + 0.5 AS INTEGER), 0))
            """
            : "greatest(job.created_at, time_field(job.request, 'runAt'))"
    }
    /// The name of what a job's request asks for, in the tables `job` and one whose `id` is the job's.
    var source: String {
        isSQLite
            ? field("source")
            // The function bears what no text can hold, and is slow.
            : """
            CASE WHEN strpos(job.request::text, '\\u0000') = 0 THEN job.request ->> 'source'
              ELSE field(job.request, 'source') END
            """
    }
    /// A job's request as bytes: text that is not UTF-8 would come repaired, as a different request.
    var requestBytes: String { isSQLite ? "CAST(request AS BLOB)" : "convert_to(request::text, 'UTF8')" }
    /// The table of the attempts that did not end as their jobs did.
    var earlierAttempts: String { isSQLite ? "attempt" : "earlier_attempt" }
    /// Selects the times of the jobs that were completed last, `?1` of them: `wait`, `fetch_ms` and so on.
    var stagesOfLatest: String {
        isSQLite
            ? """
            SELECT max(0, ended.attempted_at - ended.available_at) AS wait, fetch_ms, queue_ms, render_ms, store_ms
            FROM (SELECT id, attempted_at, available_at FROM outcome INDEXED BY outcome_end
                WHERE state = \(JobState.completed.code) ORDER BY finalized_at DESC LIMIT ?1) AS ended
              JOIN attempt ON attempt.job_id = ended.id AND attempt.started_at = ended.attempted_at
            """
            : """
            SELECT greatest(0, ended.attempted_at - ended.available_at) AS wait, attempt.*
            FROM (SELECT * FROM outcome WHERE state = \(JobState.completed.code) ORDER BY finalized_at DESC LIMIT ?1) AS ended
              CROSS JOIN LATERAL (
                SELECT ended.fetch_ms, ended.queue_ms, ended.render_ms, ended.store_ms WHERE ended.number IS NOT NULL
                UNION ALL
                -- Of a job that came from another store.
                SELECT fetch_ms, queue_ms, render_ms, store_ms FROM earlier_attempt
                WHERE ended.number IS NULL AND job_id = ended.id AND started_at = ended.attempted_at) AS attempt
            """
    }
    /// Picks one change of each of `?1` equal parts of the `?3` changes from `?2` on, at a place that the golden ratio
    /// scatters: claims and completions alternate regularly, and equal steps might meet only one of them. Selects for each
    /// state the changes of jobs that ran (`jobs`), the time of the last, and the sum of the times since the change before,
    /// none of which counts as more than `?4` milliseconds.
    var sampleOfChanges: String {
        isSQLite
            ? """
            WITH RECURSIVE pick(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM pick WHERE n + 1 < ?1)
            SELECT state, sum(min(max(gap, 0), ?4)) AS worked, max(at) AS latest,
              -- Not the requests that needed no job.
              count(CASE WHEN NOT EXISTS (SELECT 1 FROM outcome
                WHERE id = job_id AND attempted_at IS NULL AND failure IS NULL) THEN 1 END) AS jobs
            FROM (
              SELECT state, job_id, at, at - lag(at, 1, at) OVER (ORDER BY seq) AS gap
              FROM pick JOIN change ON seq = ?2 + CAST(
                (n + (n * 2654435761 % 4294967296) / 4294967296.0) * ?3 / ?1 AS INTEGER))
            GROUP BY state
            """
            : """
            SELECT state, sum(least(greatest(gap, 0), ?4))::bigint AS worked, max(at) AS latest,
              -- Not the requests that needed no job.
              count(*) FILTER (WHERE NOT EXISTS (
                SELECT 1 FROM outcome WHERE id = job_id AND attempted_at IS NULL AND failure IS NULL)) AS jobs
            FROM (
              SELECT state, job_id, at, at - lag(at, 1, at) OVER (ORDER BY seq) AS gap
              FROM generate_series(0, ?1::bigint - 1) AS n,
                LATERAL (SELECT ?2::bigint + trunc(
                  (n + (n * 2654435761 % 4294967296) / 4294967296.0) * ?3::bigint / ?1)::bigint AS seq) AS pick,
                LATERAL (
                  SELECT jobs[place] AS job_id, states[place] AS state, at
                  FROM (SELECT *, seq - last + cardinality(jobs) AS place FROM change WHERE last >= seq ORDER BY last LIMIT 1)
                    AS changes WHERE place > 0) AS change) AS changes
            GROUP BY state
            """
    }
    /// The number of the last change that has expired: one before `?1`, without one of the time from there to now, `?2`, before
    /// it. Others were noted by a clock that was wrong. Never that of the last of all, which numbers the next.
    var lastExpiredChange: String {
        """
        SELECT max(\(changeNumber)) AS last FROM change WHERE at < ?1 AND \(changeNumber) < coalesce(
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
    /// The column of the feed by which its rows follow each other.
    private var changeNumber: String { isSQLite ? "seq" : "last" }
    /// The table of the counts of all rows.
    var totals: String { isSQLite ? "total" : "total_now" }
    /// The table with the counts of each queue.
    var queueCounts: String { isSQLite ? "queue_count" : "queue_total" }
    /// The condition that a row of `queue` has no job.
    var isEmptyQueue: String {
        isSQLite
            ? """
            EXISTS (SELECT 1 FROM queue_count WHERE queue = queue.id
              AND scheduled + available + running + retryable + completed + discarded + cancelled = 0)
            """
            : """
            NOT EXISTS (SELECT 1 FROM accepted WHERE accepted.queue = queue.id)
              AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.queue = queue.id)
            """
    }
    /// The number of running jobs of a row of `key`.
    var runningOfKey: String {
        isSQLite
            ? "running" : "(SELECT count(*) FROM task WHERE task.key = key.id AND key <> 0 AND \(TaskRow.isRunning))"
    }

    // Conditions for the rows of a source. In PostgreSQL, indexes have digests in place of texts that may be too long for
    // an entry. The parameters are `?1` the URI, `?2` the scope, and `?3` the variant.
    /// The rows of a URI, for all credentials.
    package var sourceOfURI: String {
        isSQLite ? "uri = ?1" : "text_digest(uri) = text_digest(?1::text) AND uri = ?1"
    }
    var sourceConflict: String {
        isSQLite ? "uri, scope, variant" : "text_digest(uri), scope, text_digest(variant)"
    }
    var failureConflict: String { isSQLite ? "uri, scope" : "text_digest(uri), scope" }
    /// The thumbnails that were made from a source, which is `?1`.
    var thumbnailOfSource: String {
        isSQLite ? "source = ?1" : "left(source, 512) = left(?1::text, 512) AND source = ?1"
    }

    /// A field of a request in SQLite; NULL unless it is of a type, as in a request that is no JSON, which a damaged page or a
    /// program without checks can leave.
    private static func sqliteField(_ name: String, _ types: String) -> String {
        """
        iif(json_valid(job.request) AND json_type(job.request, '$.\(name)') IN (\(types)),
              json_extract(job.request, '$.\(name)'), NULL)
        """
    }

    /// Names the index to use, to SQLite, whose planner knows nothing of how the rows are distributed.
    package func indexed(by index: String?) -> String {
        guard isSQLite else { return "" }
        return index.map { "INDEXED BY \($0)" } ?? "NOT INDEXED"
    }

    /// The stop that the worker `?1` was asked for.
    package var stopOfWorker: String { "SELECT stop_mode FROM worker WHERE id = ?1" }
    /// The claims that the worker `?1` holds.
    package var claimsOfWorker: String {
        "SELECT id, token FROM task \(indexed(by: "task_running")) WHERE \(TaskRow.isRunning) AND worker = ?1"
    }

    /// The rows of a URI and scope.
    package var sourceOfKey: String { "\(sourceOfURI) AND scope = ?2" }
    /// The same for those who may read no other rows: the scope is empty.
    var knownSource: String { isSQLite ? "source WHERE \(sourceOfKey)" : "known_source(?1) WHERE scope = ?2" }
    /// The one row of a URI, scope and variant.
    package var oneSource: String {
        isSQLite
            ? "\(sourceOfKey) AND variant = ?3"
            : "\(sourceOfKey) AND text_digest(variant) = text_digest(?3::text) AND variant = ?3"
    }

    /// False, as the columns have it.
    var no: String { isSQLite ? "0" : "false" }

    /// A field of a request; NULL unless it is text.
    func field(_ name: String) -> String {
        isSQLite ? Self.sqliteField(name, "'text'") : "field(job.request, '\(name)')"
    }

    /// A field of a request that is a number; NULL otherwise.
    func number(_ name: String) -> String {
        isSQLite
            ? "CAST(\(Self.sqliteField(name, "'integer', 'real'")) AS INTEGER)"
            : "number_field(job.request, '\(name)')"
    }

    /// A column with JSON, as text.
    func text(_ column: String) -> String { isSQLite ? column : "\(column)::text" }

    /// The elements of the list that is a parameter, as rows with an `id`.
    func elements(_ place: String, _ list: List) -> String {
        isSQLite ? "(SELECT value AS id FROM json_each(\(place)))" : "unnest(\(place)::\(list.rawValue)) AS asked(id)"
    }

    /// The values of a column of text as one, a line each, in the order of a column; in SQLite, in that of the rows.
    func lines(_ column: String, by order: String) -> String {
        isSQLite ? "group_concat(\(column), char(10))" : "string_agg(\(column), chr(10) ORDER BY \(order))"
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
