package import CameoModel
package import CameoQueue
package import CameoStore

// DESIGN. What follows from a job's change of state is recorded here and written for a whole group of operations: the
// history of what ended, the change feed, counts, failures by code, and the lowest rank of each lane with a key. So a
// hundred settlements cost few statements, and the rows that many transactions share are locked for the time of one round
// trip, the one that ends with COMMIT. Only the history of jobs that were completed beforehand is there already.
//
// The order of locks is that of the statements (`Ledger+Writing`): tasks, blobs, orphans, thumbnails, lanes, counters, the
// version; each kind by number or name. Settlements are the first of their group, so what they store is written at once;
// uses of thumbnails come last and wait for nobody.
struct Ledger {
    struct Counts {
        /// The changes, indexed by `JobState.code`.
        var changes = [Int](repeating: 0, count: 7)
        /// How many jobs ended, in the order of ``JobState/ends``.
        var ends = [0, 0, 0]

        mutating func enter(_ state: JobState) {
            changes[state.code] += 1
            if let index = JobState.ends.firstIndex(of: state) { ends[index] += 1 }
        }
    }

    struct Change {
        let job: Int64
        let state: JobState
    }

    struct Outcome {
        let task: TaskRow
        let state: JobState
        let failure: String?
        let code: String?
        let supersededBy: Int64?
    }

    struct Attempt {
        let task: TaskRow
        let outcome: JobAttempt.Outcome
        let failure: String?
        let timings: AttemptTimings
    }

    /// A key and the limit that a request gave it.
    struct NamedLimit: Hashable {
        let name: ExactText
        let limit: Int?
    }

    struct Place: Hashable {
        let queue, key: Int64
    }

    /// The tasks of the group's held claims that are still valid, by token.
    var claimed: [String: TaskRow] = [:]
    /// The tokens of claims whose jobs were completed beforehand.
    var completed: Set<String> = []
    /// Held claims whose jobs are still to be completed.
    var completions: [Completion] = []
    /// Running tasks that have ended in another way and are still to be deleted.
    var ended: [Int64] = []
    var outcomes: [Outcome] = []
    var attempts: [Attempt] = []
    /// What stores blobs, by digest, and thumbnails, by id, with the blobs that these name.
    var blobs: [String: Connection.Statement] = [:]
    var thumbnails: [String: [Connection.Statement]] = [:]
    var named: [(thumbnail: String, blob: String)] = []
    /// Thumbnails that were used.
    var used: Set<String> = []
    var changes: [Change] = []
    var queues: [Int64: Counts] = [:]
    /// The lowest rank that became available in each lane with a key.
    var heads: [Int64: Int64] = [:]
    var counters = StoreCounters()
    /// Whether workers may have something new to claim.
    var wakesWorkers = false
    /// Whether others may wait for what changes, even if no job does.
    var concernsWaiters = false

    /// Queues with a limit whose claims are settled.
    var limitedQueues: Set<Int64> = []

    // What was looked up. A rollback to a savepoint restores the ledger too, so it stays valid.
    var queueIDs: [String: Int64] = [:]
    var hookedQueues: Set<Int64> = []
    var laneIDs: [Place: Int64] = [:]
    var keyIDs: [NamedLimit: Int64] = [:]
    var holdsNames = false
}

extension PostgreSQLTransaction {
    // MARK: - Recording

    package func move(_ job: QueuedJob, from: JobState?, to: JobState?) {
        if let from { ledger.queues[job.queue, default: Ledger.Counts()].changes[from.code] -= 1 }
        guard let to else { return }
        ledger.changes.append(Ledger.Change(job: job.id, state: to))
        ledger.queues[job.queue, default: Ledger.Counts()].enter(to)
        // What waits has a due time, and what ends makes room for others of its key or queue.
        if !to.isFinal && to != .running || job.key != 0 || ledger.limitedQueues.contains(job.queue) {
            ledger.wakesWorkers = ledger.wakesWorkers || to != .running
        }
    }

    /// Records the failure of an attempt or a request.
    package func fail(_ code: JobFailure.Code, _ family: StoreCounters.Family) {
        ledger.counters.add(1, to: family, code.rawValue)
    }

    package func add(_ counters: StoreCounters) { ledger.counters += counters }

    package func wakeWorkers() { ledger.wakesWorkers = true }

    package func flushHistory() throws { try flush() }

    /// Subtracts an outcome whose row is removed.
    package func forget(_ state: JobState, in queue: Int64) {
        ledger.queues[queue, default: Ledger.Counts()].changes[state.code] -= 1
    }

    /// Records an available task, which may now be the first of its lane.
    package func raise(_ task: TaskRow) {
        ledger.wakesWorkers = true
        guard task.key != 0, task.crashCount < ClaimKind.poisonAfterCrashes else { return }
        ledger.heads[task.lane] = min(task.rank, ledger.heads[task.lane] ?? task.rank)
    }

    // MARK: - Claims

    /// The statement that locks and looks up the tasks of claims, in the order of their ids; none if there are no claims.
    /// Only a running job has a token.
    static func locking(_ claims: [Claim]) -> [Connection.Statement] {
        guard !claims.isEmpty else { return [] }
        let sorted = claims.sorted { $0.jobID < $1.jobID }
        return [
            .init(
                """
                SELECT \(TaskRow.columns), (SELECT max_running IS NOT NULL FROM queue WHERE queue.id = task.queue)
                FROM unnest($1::bigint[], $2::text[]) AS claim(id, token) CROSS JOIN LATERAL (
                  SELECT * FROM task WHERE task.id = claim.id AND task.token = claim.token FOR UPDATE) AS task
                """,
                [SQLArray(sorted.map(\.jobID)), SQLArray(sorted.map(\.token))],
                prepared: true
            )
        ]
    }

    /// Keeps what ``locking(_:)`` has found.
    func note(claimed tasks: QueryResult) throws {
        for row in tasks.rows {
            let task = try TaskRow(row)
            if let token = task.token { ledger.claimed[token] = task }
            if try row[20] == true { ledger.limitedQueues.insert(task.queue) }
        }
    }

    package func take(_ claim: Claim) throws -> TaskRow {
        guard let task = ledger.claimed.removeValue(forKey: claim.token), task.id == claim.jobID else {
            throw StoreError.leaseLost(jobID: claim.jobID)
        }
        return task
    }

    /// Does the same and leaves the claim valid.
    package func task(of claim: Claim) throws -> TaskRow {
        guard let task = ledger.claimed[claim.token], task.id == claim.jobID else {
            throw StoreError.leaseLost(jobID: claim.jobID)
        }
        return task
    }

    /// Forgets the claim of a task that does not run any more, so that no other operation of the group settles it.
    package func loseClaim(of task: TaskRow) { if let token = task.token { ledger.claimed[token] = nil } }
}
