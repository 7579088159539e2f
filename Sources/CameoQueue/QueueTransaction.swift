package import CameoModel
package import CameoStore

// DESIGN. What a queue does is written here once, over this protocol, and each engine gives its transaction. Statements are
// what both databases understand; their parameters are `?1`, `?2`, …, because SQLite takes `$1` for a name. Calls take
// sets where a database behind a network would need a round trip for each of many rows. Lists are one parameter.

/// A transaction of an engine, for the body of a read or a commit. It blocks, and must not leave the body.
package protocol QueueTransaction: TableFollowing {
    static var dialect: any Dialect { get }
    /// The time of the transaction in milliseconds since 1970.
    var now: Int64 { get }
    var ledger: Ledger { get set }

    /// Runs a statement that returns rows.
    ///
    /// - Throws: the engine's error.
    func query(_ sql: String, _ values: [(any SQLBindable)?]) throws -> [QueueRow]
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
    /// What ends a selection of tasks, to lock them in a commit.
    var lockingOfTasks: String { get }
    /// The task of a claim that is still valid (invariant I1).
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)``
    func task(of claim: Claim) throws -> TaskRow
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
    /// Keeps others from claiming where a limit counts, or a queue is fair, until the end of the transaction.
    func holdClaims() throws
    /// A page of records, those of blobs without their bytes; none after the last.
    func records(of kind: RecordKind, after last: StoreRecord?, limit: Int) throws -> [StoreRecord]
}

extension QueueTransaction {
    package var dialect: any Dialect { Self.dialect }

    package func query(_ sql: String) throws -> [QueueRow] { try query(sql, []) }

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
    package func row(_ sql: String, _ values: [(any SQLBindable)?] = []) throws -> QueueRow? {
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
