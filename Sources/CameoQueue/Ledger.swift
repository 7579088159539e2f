package import CameoModel
package import CameoStore

// DESIGN. What follows from a job's change of state is recorded here and written for a whole group of operations, at the
// latest before COMMIT: the change feed; the jobs of each queue by state, with how many ever ended; failures by code; the
// running jobs of each key; and the lowest rank of each lane. So a thousand jobs cost one update of their queue. Whoever
// reads these numbers within the transaction has them written before.

/// What a transaction has changed and not written yet, and the names that it has looked up.
package struct Ledger {
    /// The changes of a queue's counts.
    package struct Counts {
        /// Indexed by `JobState.code`.
        package var changes = [Int](repeating: 0, count: 7)
        /// How many jobs ended, in the order of ``JobState/ends``.
        package var ends = [0, 0, 0]

        /// What counts them in the tables: both, in their orders.
        package static let columns =
            JobState.allCases.map(\.rawValue) + JobState.ends.map { "ever_\($0.rawValue)" }

        mutating func enter(_ state: JobState) {
            changes[state.code] += 1
            if let index = JobState.ends.firstIndex(of: state) { ends[index] += 1 }
        }
    }

    package struct Place: Hashable {
        package let queue, key, tenant: Int64

        package init(queue: Int64, key: Int64, tenant: Int64) {
            (self.queue, self.key, self.tenant) = (queue, key, tenant)
        }
    }

    package var changes: [(job: Int64, state: JobState)] = []
    package var queues: [Int64: Counts] = [:]
    /// The changes of running jobs by key, for an engine that keeps their number.
    package var keys: [Int64: Int] = [:]
    /// The lowest rank that became available in each lane that has a stored head.
    package var heads: [Int64: (queue: Int64, rank: Int64)] = [:]
    /// What attempts have cost that were charged, in milliseconds of a processor.
    package var costs: [(task: TaskRow, cost: Double, charged: Double)] = []
    package var counters = StoreCounters()
    /// The jobs that have ended without what they promised, and why; and those that have made it.
    package var broken: [(job: Int64, code: String)] = []
    package var kept: [Int64] = []

    // What was looked up. Rolling back to a savepoint restores the ledger too, so it stays valid.
    var queueIDs: [String: Int64] = [:]
    var hookedQueues: Set<Int64> = []
    package var laneIDs: [Place: Int64] = [:]
    /// Whether the store has labels of requests.
    var hasLabels: Bool?
    /// With the limit that a request gave it last.
    var keyIDs: [ExactText: (id: Int64, limit: Int?)] = [:]
    package var tenantIDs: [ExactText: Int64] = [:]

    package init() {}
}

extension QueueTransaction {
    /// Records a task's change of state, where nil means that there is no row, for counts and the change feed.
    package func move(_ task: TaskRow, from: JobState?, to: JobState?) {
        if let from { ledger.queues[task.queue, default: Ledger.Counts()].changes[from.code] -= 1 }
        if task.key != 0, (from == .running) != (to == .running) {
            ledger.keys[task.key, default: 0] += to == .running ? 1 : -1
        }
        guard let to else { return }
        ledger.changes.append((task.id, to))
        ledger.queues[task.queue, default: Ledger.Counts()].enter(to)
        // What waits has a due time, and what ends makes room for others of its key or queue.
        if to != .running, !to.isFinal || task.key != 0 || isLimited(queue: task.queue) { wakeWorkers() }
        if to == .available { raise(task) }
    }

    /// Records an available task, which may now be the first of its lane.
    package func raise(_ task: TaskRow) {
        wakeWorkers()
        let hasHead = dialect.everyLaneHasHead || task.key != 0 || task.tenant != 0
        guard hasHead, task.crashCount < ClaimKind.poisonAfterCrashes else { return }
        let rank = min(task.rank, ledger.heads[task.lane]?.rank ?? .max)
        ledger.heads[task.lane] = (task.queue, rank)
    }

    /// Records the failure of an attempt or a request.
    package func fail(_ code: JobFailure.Code, _ family: StoreCounters.Family) {
        ledger.counters.add(1, to: family, code.rawValue)
    }

    /// Adds to the stored counters.
    package func add(_ counted: StoreCounters) { ledger.counters += counted }

    /// Subtracts an outcome whose row is removed from the counts of its queue.
    package func forget(_ state: JobState, in queue: Int64) {
        ledger.queues[queue, default: Ledger.Counts()].changes[state.code] -= 1
    }

    // Names, which are found or created. Who looks one up to insert a row that has its number keeps it from being removed.

    package func queue(_ name: String) throws -> Int64 {
        if let id = ledger.queueIDs[name] { return id }
        try holdNames()
        let row = try row("SELECT id, hook IS NOT NULL AS is_hooked FROM queue WHERE name = ?1", [name])
        let id: Int64 = try row.map { try $0["id"] } ?? create("queue", name)
        if try row?["is_hooked"] == true { ledger.hookedQueues.insert(id) }
        ledger.queueIDs[name] = id
        return id
    }

    /// Whether a queue that was looked up names a hook.
    func isHooked(queue: Int64) -> Bool { ledger.hookedQueues.contains(queue) }

    package func batch(_ name: String) throws -> Int64 {
        try holdNames()
        return try value("SELECT id FROM batch WHERE name = ?1", [name]) ?? create("batch", name)
    }

    /// The latest request that names a limit sets it, unless an operator has set one; by default one job runs at a time.
    package func key(_ name: String, limit: Int?) throws -> Int64 {
        let exact = ExactText(name)
        if let known = ledger.keyIDs[exact], limit == nil || limit == known.limit { return known.id }
        try holdNames()
        // Most requests name no other tenant.
        let look = """
            SELECT id, max_running, fixed, (SELECT id FROM tenant WHERE tenant.name = key.name) AS tenant FROM key WHERE name = ?1
            """
        let row = try row(look, [name])
        if let tenant: Int64 = try row?["tenant"] { ledger.tenantIDs[exact] = tenant }
        let id: Int64 = try row.map { try $0["id"] } ?? create("key", name, limit: limit ?? 1)
        if let limit, let row, try limit != row["max_running"], try row["fixed"] == false {
            try execute("UPDATE key SET max_running = ?1 WHERE id = ?2 AND fixed = \(dialect.no)", [limit, id])
            try settle(.key, id)
            wakeWorkers()
        }
        ledger.keyIDs[exact] = (id, limit)
        return id
    }

    /// The tenant that a request names; 0: none. Without one, its concurrency key is its tenant.
    package func tenant(of request: ThumbnailRequest) throws -> Int64 {
        guard let name = request.tenant ?? request.concurrencyKey else { return 0 }
        return try tenant(name)
    }

    package func tenant(_ name: String) throws -> Int64 {
        let exact = ExactText(name)
        if let known = ledger.tenantIDs[exact] { return known }
        try holdNames()
        let id = try value("SELECT id FROM tenant WHERE name = ?1", [name]) ?? create("tenant", name)
        ledger.tenantIDs[exact] = id
        return id
    }

    package func lane(_ place: Ledger.Place) throws -> Int64 {
        if let id = ledger.laneIDs[place] { return id }
        try holdNames()
        let find = "SELECT id FROM lane WHERE queue = ?1 AND tenant = ?2 AND key = ?3"
        let names = [place.queue, place.tenant, place.key]
        var id: Int64? = try value(find, names)
        if id == nil {
            try execute(dialect.insertionOfLane, names)
            id = try value(find, names)
        }
        guard let id else { throw StoreError.failed("a lane of queue \(place.queue) was removed") }
        ledger.laneIDs[place] = id
        return id
    }

    /// Creates a name, unless another transaction has just done so.
    private func create(_ table: String, _ name: String, limit: Int? = nil) throws -> Int64 {
        let columns = limit == nil ? "(name) VALUES (?1)" : "(name, max_running) VALUES (?1, ?2)"
        try execute("INSERT INTO \(table)\(columns) ON CONFLICT (name) DO NOTHING", [name] + (limit.map { [$0] } ?? []))
        guard let id: Int64 = try value("SELECT id FROM \(table) WHERE name = ?1", [name]) else {
            throw StoreError.failed("\(table) \(name) was removed")
        }
        return id
    }
}
