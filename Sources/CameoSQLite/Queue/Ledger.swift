internal import CameoModel
internal import CameoQueue
internal import CameoStore

/// Writes the counts and changes of a transaction before its end.
extension SQLiteTransaction {
    /// Every commit wakes those who watch the log.
    package func wakeWorkers() {}

    package func isLimited(queue: Int64) -> Bool { false }

    /// Only one process writes at a time.
    package func holdNames() {}

    /// Writes what was recorded.
    func flush() throws {
        let ledger = ledger
        self.ledger = Ledger()
        let entry = "INSERT INTO change(job_id, state, at) VALUES (?1, ?2, ?3)"
        for change in ledger.changes { try execute(entry, [change.job, change.state.code, now]) }
        for job in ledger.kept { try execute(Promise.removal, [job]) }
        for (job, code) in ledger.broken { try execute(Promise.breach, [job, code, now + Promise.age]) }
        for (key, change) in ledger.keys where change != 0 {
            try execute("UPDATE key SET running = running + ?1 WHERE id = ?2", [change, key])
            try decide(key: key)
        }
        for (queue, counts) in ledger.queues { try write(counts, of: queue) }
        try write(ledger.counters)
        try settle(ledger.costs)
        for (lane, head) in ledger.heads { try lowerHead(ofLane: lane, in: head.queue, to: head.rank) }
    }

    /// Corrects what lanes have had.
    private func settle(_ costs: [(task: TaskRow, cost: Double, charged: Double)]) throws {
        for (lane, costs) in Dictionary(grouping: costs, by: \.task.lane) {
            let (cost, charged) = costs.reduce((0, 0)) { ($0.0 + $1.cost, $0.1 + $1.charged) }
            let pace = Share.pace(of: costs.count)
            try execute(Self.correction, [lane, cost, charged, cost / Double(costs.count), pace, now])
            let task = costs[0].task
            guard task.tenant != 0 else { continue }
            try execute(
                """
                UPDATE lane SET used = \(Share.bounded("(used + ?4 / \(Share.weight) - ?5)")), charged_at = ?6
                WHERE id IN (\(Share.lanes(queue: "?1", tenant: "?2"))) AND id <> ?3 AND used IS NOT NULL
                """,
                [task.queue, task.tenant, lane, cost, charged, now]
            )
        }
    }

    private static let correction = {
        let columns = Share.correction(cost: "?2", charged: "?3", mean: "?4", pace: "?5", now: "?6")
        return "UPDATE lane SET \(columns) WHERE id = ?1 AND used IS NOT NULL"
    }()

    private func write(_ counts: Ledger.Counts, of queue: Int64) throws {
        guard counts.changes.contains(where: { $0 != 0 }) else { return }
        try execute(Self.counting, [Int(queue)] + counts.changes + counts.ends)
        if counts.changes[JobState.running.code] != 0 { try decide(queue: queue) }
    }

    private static let counting = {
        let changes = Ledger.Counts.columns.enumerated().map { "\($1) = \($1) + ?\($0 + 2)" }
        return "UPDATE queue_count SET \(changes.list) WHERE queue = ?1"
    }()

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
