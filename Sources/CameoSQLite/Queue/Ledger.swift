package import CameoModel
package import CameoQueue
package import CameoStore
internal import GRDB

// DESIGN. What follows from a job's change of state is recorded here and written by `flush`, at the latest before COMMIT:
// the change feed; the jobs of each queue by state, with how many ever ended; failures by code; the running jobs of each
// key; and the lowest rank of each lane. So a thousand jobs cost one update of their queue. Whoever reads these numbers
// within the transaction flushes before.
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

    struct Head {
        let queue: Int64
        var rank: Int64
    }

    struct Place: Hashable {
        let queue, key: Int64
    }

    var changes: [Change] = []
    var queues: [Int64: Counts] = [:]
    /// The changes of running jobs by key.
    var keys: [Int64: Int] = [:]
    /// The lowest rank that became available in each lane.
    var heads: [Int64: Head] = [:]
    var counters = StoreCounters()

    // What was looked up. Rolling back to a savepoint restores the ledger too, so it stays valid.
    var queueIDs: [String: Int64] = [:]
    var hookedQueues: Set<Int64> = []
    var laneIDs: [Place: Int64] = [:]
}

extension SQLiteTransaction {
    package func move(_ job: QueuedJob, from: JobState?, to: JobState?) {
        if let from { ledger.queues[job.queue, default: Ledger.Counts()].changes[from.code] -= 1 }
        if let to {
            ledger.changes.append(Ledger.Change(job: job.id, state: to))
            ledger.queues[job.queue, default: Ledger.Counts()].enter(to)
        }
        if job.key != 0, (from == .running) != (to == .running) {
            ledger.keys[job.key, default: 0] += to == .running ? 1 : -1
        }
    }

    /// Every commit wakes those who watch the log.
    package func wakeWorkers() {}

    package func fail(_ code: JobFailure.Code, _ family: StoreCounters.Family) {
        ledger.counters.add(1, to: family, code.rawValue)
    }

    package func forget(_ state: JobState, in queue: Int64) {
        ledger.queues[queue, default: Ledger.Counts()].changes[state.code] -= 1
    }

    package func raise(_ task: TaskRow) {
        guard task.crashCount < ClaimKind.poisonAfterCrashes else { return }
        if ledger.heads[task.lane].map({ task.rank < $0.rank }) ?? true {
            ledger.heads[task.lane] = Ledger.Head(queue: task.queue, rank: task.rank)
        }
    }

    package func queue(_ name: String) throws -> Int64 {
        if let id = ledger.queueIDs[name] { return id }
        let find = try cachedStatement(sql: "SELECT id, hook IS NOT NULL FROM queue WHERE name = ?")
        let row = try GRDB.Row.fetchOne(find, arguments: [name])
        let id = try row?[0] as Int64? ?? id(of: name, in: "queue")
        if row?[1] as Bool? == true { ledger.hookedQueues.insert(id) }
        ledger.queueIDs[name] = id
        return id
    }

    package func isHooked(queue: Int64) -> Bool { ledger.hookedQueues.contains(queue) }

    package func lane(queue: Int64, key: Int64) throws -> Int64 {
        let place = Ledger.Place(queue: queue, key: key)
        if let id = ledger.laneIDs[place] { return id }
        let id = try Lanes.id(queue: queue, key: key, self)
        ledger.laneIDs[place] = id
        return id
    }

    /// Writes what was recorded.
    func flush() throws {
        let ledger = ledger
        self.ledger = Ledger()
        if !ledger.changes.isEmpty {
            let note = try cachedStatement(sql: "INSERT INTO change(job_id, state, at) VALUES (?, ?, ?)")
            for change in ledger.changes { try note.execute(arguments: [change.job, change.state.code, now]) }
        }
        for (key, change) in ledger.keys where change != 0 { try Keys.count(change, of: key, self) }
        for (queue, counts) in ledger.queues { try write(counts, of: queue) }
        if !ledger.counters.isEmpty { try write(ledger.counters) }
        for (lane, head) in ledger.heads { try Lanes.lower(lane, of: head.queue, to: head.rank, self) }
    }

    private func write(_ counts: Ledger.Counts, of queue: Int64) throws {
        guard counts.changes.contains(where: { $0 != 0 }) else { return }
        let update = try cachedStatement(
            sql: """
                UPDATE queue_count SET scheduled = scheduled + ?, available = available + ?, running = running + ?,
                  retryable = retryable + ?, completed = completed + ?, discarded = discarded + ?,
                  cancelled = cancelled + ?, ever_completed = ever_completed + ?,
                  ever_discarded = ever_discarded + ?, ever_cancelled = ever_cancelled + ?
                WHERE queue = ?
                """
        )
        try update.execute(arguments: StatementArguments(counts.changes + counts.ends) + [queue])
        if counts.changes[JobState.running.code] != 0 { try Queues.decide(queue, self) }
    }

    private func write(_ counted: StoreCounters) throws {
        for (family, label, value) in counted.entries {
            try execute(
                """
                INSERT INTO counter(family, label, value) VALUES (?1, ?2, ?3)
                ON CONFLICT DO UPDATE SET value = value + excluded.value
                """,
                [family.rawValue, label, value]
            )
        }
    }
}

/// What a check finds wrong in the rows of hooks, and a repair corrects.
enum Hooks {
    static let withoutWorker = "SELECT seq FROM delivery WHERE status = 1 AND worker NOT IN (SELECT id FROM worker)"
    /// Unfinished jobs whose mark disagrees with their hooks.
    static let wronglyMarked = """
        SELECT id FROM task WHERE hooked <> EXISTS (SELECT 1 FROM job_hook WHERE job_id = task.id)
        """
    /// Ended jobs with a hook to which no end was ever entered.
    static let untold = """
        SELECT DISTINCT job_id FROM job_hook JOIN outcome ON outcome.id = job_id
        WHERE superseded_by IS NULL AND NOT EXISTS (
          SELECT 1 FROM delivery WHERE delivery.job_id = job_hook.job_id AND delivery.hook = job_hook.hook)
        """

    /// - Returns: the number of rows corrected.
    static func repair(_ db: SQLiteTransaction) throws -> Int {
        try [
            "UPDATE delivery SET status = 0, worker = NULL WHERE seq IN (\(withoutWorker))",
            "UPDATE task SET hooked = 1 - hooked WHERE id IN (\(wronglyMarked))",
            """
            INSERT INTO delivery(job_id, hook, state, ended_at, failure, at, since)
            SELECT DISTINCT outcome.id, hook, state, finalized_at, failure, \(db.now), \(db.now)
            FROM job_hook JOIN outcome ON outcome.id = job_id
            WHERE superseded_by IS NULL AND NOT EXISTS (
              SELECT 1 FROM delivery WHERE delivery.job_id = job_hook.job_id AND delivery.hook = job_hook.hook)
            """,
        ].reduce(0) { count, statement in
            try db.execute(sql: statement)
            return count + db.changesCount
        }
    }
}

extension SQLiteStore {
    static func hooks(_ db: SQLiteTransaction) throws -> CheckFinding {
        let deliveries = try Int64.fetchAll(db.sqlite, sql: Hooks.withoutWorker)
        let jobs =
            try Int64.fetchAll(db.sqlite, sql: Hooks.wronglyMarked) + Int64.fetchAll(db.sqlite, sql: Hooks.untold)
        return CheckFinding(
            "hooks",
            deliveries.map { "delivery \($0) runs for an unknown worker" }
                + jobs.map { "the end of job \($0) would not reach its hooks" },
            ok: "every end of a job reaches its hooks",
            advice: "Another program changed the tables; \(repairCommand) corrects the rows"
        )
    }
}
