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
        earlierAttempts: "earlier_attempt"
    )

    /// Names the index to use, to SQLite, whose planner knows nothing of how the rows are distributed.
    package func indexed(by index: String?) -> String {
        guard isSQLite else { return "" }
        return index.map { "INDEXED BY \($0)" } ?? "NOT INDEXED"
    }

    /// Locks the rows that are selected.
    var locking: String { isSQLite ? "" : "FOR UPDATE" }
    /// Locks the rows that are selected, and passes over those that another transaction has locked.
    var skippingLocked: String { isSQLite ? "" : "FOR UPDATE SKIP LOCKED" }

    /// The condition that a value is in the list that is a parameter.
    package func isIn(_ place: String, _ list: List) -> String {
        isSQLite ? "IN (SELECT value FROM json_each(\(place)))" : "= ANY(\(place)::\(list.rawValue))"
    }
}
