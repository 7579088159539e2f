internal import CameoModel
internal import CameoStore
internal import GRDB

// DESIGN. How many jobs of a queue are in which state, how many of a key run, and where the lowest rank of each lane is,
// are numbers that whoever moves a job changes in the same transaction. A ledger gathers the changes of one operation, so
// that a thousand jobs cost one update of their queue, and `post` writes them down. Reads of these numbers within the
// operation come after it.
struct Ledger {
    private struct Counts {
        /// By `JobState.code`.
        var changes = [Int](repeating: 0, count: 7)
    }

    private struct Head {
        let queue: Int64
        var rank: Int64
    }

    /// When the changes happen.
    var now: Int64
    private var queues: [Int64: Counts] = [:]
    private var keys: [Int64: Int] = [:]
    private var heads: [Int64: Head] = [:]
    /// Ids that were looked up; a savepoint that is rolled back takes the ledger back too.
    private var queueIDs: [String: Int64] = [:]
    private var laneIDs: [Place: Int64] = [:]

    private struct Place: Hashable {
        let queue, key: Int64
    }

    init(now: Int64) {
        self.now = now
    }

    /// Notes that a job has come from one state to another, nil where it has no row, and writes it into the feed.
    mutating func move(_ task: TaskRow, from: JobState?, to: JobState?, _ db: Database) throws {
        if let to { try note(task.id, to, db) }
        if let from { queues[task.queue, default: Counts()].changes[from.code] -= 1 }
        if let to { queues[task.queue, default: Counts()].changes[to.code] += 1 }
        if task.key != 0, (from == .running) != (to == .running) {
            keys[task.key, default: 0] += to == .running ? 1 : -1
        }
        if to == .available { raise(task) }
    }

    /// Notes an outcome that no task was before.
    mutating func end(_ id: Int64, in queue: Int64, as state: JobState, _ db: Database) throws {
        try note(id, state, db)
        queues[queue, default: Counts()].changes[state.code] += 1
    }

    /// Takes back an outcome whose row is removed.
    mutating func forget(_ state: JobState, in queue: Int64) {
        queues[queue, default: Counts()].changes[state.code] -= 1
    }

    /// An available task may be the first of its lane now.
    mutating func raise(_ task: TaskRow) {
        guard task.crashCount < ClaimKind.poisonAfterCrashes else { return }
        if heads[task.lane].map({ task.rank < $0.rank }) ?? true {
            heads[task.lane] = Head(queue: task.queue, rank: task.rank)
        }
    }

    /// Makes the queue if there is none.
    mutating func queue(_ name: String, _ db: Database) throws -> Int64 {
        if let id = queueIDs[name] { return id }
        let id = try Names.queue(name, db)
        queueIDs[name] = id
        return id
    }

    /// Makes the lane if there is none.
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

    /// Writes the changes down.
    mutating func post(_ db: Database) throws {
        for (key, change) in keys where change != 0 { try Keys.count(change, of: key, db) }
        for (queue, counts) in queues { try Self.post(counts, of: queue, db) }
        for (lane, head) in heads { try Lanes.lower(lane, of: head.queue, to: head.rank, db) }
        self = Ledger(now: now)
    }

    private static func post(_ counts: Counts, of queue: Int64, _ db: Database) throws {
        guard counts.changes.contains(where: { $0 != 0 }) else { return }
        let update = try db.cachedStatement(
            sql: """
                UPDATE queue_count SET scheduled = scheduled + ?, available = available + ?, running = running + ?,
                  retryable = retryable + ?, completed = completed + ?, discarded = discarded + ?,
                  cancelled = cancelled + ?
                WHERE queue = ?
                """
        )
        try update.execute(arguments: StatementArguments(counts.changes) + [queue])
        if counts.changes[JobState.running.code] != 0 { try Queues.decide(queue, db) }
    }
}
