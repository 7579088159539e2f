internal import CameoModel
internal import CameoStore
internal import GRDB

// DESIGN. Four kinds of number change in the same transaction as a job's state: the jobs of each queue by state, with
// how many ever ended; failures by code; the running jobs of each key; and the lowest rank of each lane. A ledger
// accumulates the changes of one operation, so that a thousand jobs cost one update of their queue, and `post` writes
// them. Within the operation, read these numbers only after posting.
struct Ledger {
    private struct Counts {
        /// The changes, indexed by `JobState.code`.
        var changes = [Int](repeating: 0, count: 7)
        /// How many jobs ended, in the order of ``SQLiteStore/ends``.
        var ends = [0, 0, 0]

        mutating func enter(_ state: JobState) {
            changes[state.code] += 1
            if let index = JobState.ends.firstIndex(of: state) { ends[index] += 1 }
        }
    }

    private struct Head {
        let queue: Int64
        var rank: Int64
    }

    var now: Int64
    private var queues: [Int64: Counts] = [:]
    private var keys: [Int64: Int] = [:]
    private var heads: [Int64: Head] = [:]
    private var failures = StoreCounters()
    /// Ids already looked up. Rolling back a savepoint also restores the ledger, so they stay valid.
    private var queueIDs: [String: Int64] = [:]
    private var hookedQueues: Set<Int64> = []
    private var laneIDs: [Place: Int64] = [:]

    private struct Place: Hashable {
        let queue, key: Int64
    }

    init(now: Int64) {
        self.now = now
    }

    /// Records a job's change of state, where nil means that it has no row, and writes it to the change feed.
    mutating func move(_ task: TaskRow, from: JobState?, to: JobState?, _ db: Database) throws {
        if let to { try note(task.id, to, db) }
        if let from { queues[task.queue, default: Counts()].changes[from.code] -= 1 }
        if let to { queues[task.queue, default: Counts()].enter(to) }
        if task.key != 0, (from == .running) != (to == .running) {
            keys[task.key, default: 0] += to == .running ? 1 : -1
        }
        if to == .available { raise(task) }
    }

    /// Records an outcome that had no task before.
    mutating func end(_ id: Int64, in queue: Int64, as state: JobState, _ db: Database) throws {
        try note(id, state, db)
        queues[queue, default: Counts()].enter(state)
    }

    /// Records the failure of an attempt or a request.
    mutating func fail(_ code: JobFailure.Code, _ family: StoreCounters.Family) {
        failures.add(1, to: family, code.rawValue)
    }

    /// Subtracts an outcome whose row is removed.
    mutating func forget(_ state: JobState, in queue: Int64) {
        queues[queue, default: Counts()].changes[state.code] -= 1
    }

    /// Records an available task, which may now be the first of its lane.
    mutating func raise(_ task: TaskRow) {
        guard task.crashCount < ClaimKind.poisonAfterCrashes else { return }
        if heads[task.lane].map({ task.rank < $0.rank }) ?? true {
            heads[task.lane] = Head(queue: task.queue, rank: task.rank)
        }
    }

    /// Finds or creates a queue.
    mutating func queue(_ name: String, _ db: Database) throws -> Int64 {
        if let id = queueIDs[name] { return id }
        let find = try db.cachedStatement(sql: "SELECT id, hook IS NOT NULL FROM queue WHERE name = ?")
        let row = try Row.fetchOne(find, arguments: [name])
        let id = try row?[0] as Int64? ?? Names.queue(name, db)
        if row?[1] as Bool? == true { hookedQueues.insert(id) }
        queueIDs[name] = id
        return id
    }

    /// Whether a queue that was looked up names a hook.
    func isHooked(queue: Int64) -> Bool { hookedQueues.contains(queue) }

    /// Finds or creates a lane.
    mutating func lane(queue: Int64, key: Int64, _ db: Database) throws -> Int64 {
        let place = Place(queue: queue, key: key)
        if let id = laneIDs[place] { return id }
        let id = try Lanes.id(queue: queue, key: key, db)
        laneIDs[place] = id
        return id
    }

    private func note(_ id: Int64, _ state: JobState, _ db: Database) throws {
        let note = try db.cachedStatement(sql: "INSERT INTO change(job_id, state, at) VALUES (?, ?, ?)")
        try note.execute(arguments: [id, state.code, now])
    }

    mutating func post(_ db: Database) throws {
        for (key, change) in keys where change != 0 { try Keys.count(change, of: key, db) }
        for (queue, counts) in queues { try Self.post(counts, of: queue, db) }
        if !failures.isEmpty { try SQLiteStore.add(failures, db) }
        for (lane, head) in heads { try Lanes.lower(lane, of: head.queue, to: head.rank, db) }
        self = Ledger(now: now)
    }

    private static func post(_ counts: Counts, of queue: Int64, _ db: Database) throws {
        guard counts.changes.contains(where: { $0 != 0 }) else { return }
        let update = try db.cachedStatement(
            sql: """
                UPDATE queue_count SET scheduled = scheduled + ?, available = available + ?, running = running + ?,
                  retryable = retryable + ?, completed = completed + ?, discarded = discarded + ?,
                  cancelled = cancelled + ?, ever_completed = ever_completed + ?,
                  ever_discarded = ever_discarded + ?, ever_cancelled = ever_cancelled + ?
                WHERE queue = ?
                """
        )
        try update.execute(arguments: StatementArguments(counts.changes + counts.ends) + [queue])
        if counts.changes[JobState.running.code] != 0 { try Queues.decide(queue, db) }
    }
}
