internal import CameoModel
package import CameoStore
internal import Foundation

// DESIGN. Removes obsolete rows that nothing else removes: expired source failures and idempotency keys, what repairs have
// set aside, and queues, batches, concurrency keys and tenants without jobs. A key that an operator has limited is kept for
// future jobs, as is a tenant's weight. So is a key that still has a job, even an ended one: a retry would find no limit and
// never run.
//
// Removal has the lock of names before it looks whether any job uses one: a transaction that accepts a job shares it, so
// that the removal sees the job, or the job finds no row and makes another.

extension QueueStore {
    func removeLeftovers(_ steps: inout PruneSteps<Self>) async throws {
        let size = PruneSteps<Self>.size
        try await steps.take { db in
            let count = try db.removeFailures(atMost: size)
            var step = PruneStep(isLast: count < size)
            step.removed.sourceFailures = count
            return step
        }
        try await steps.take { db in
            let expired: [String] = try db.column(
                """
                DELETE FROM promise WHERE (job_id, thumbnail) IN (
                  SELECT job_id, thumbnail FROM promise WHERE until <= ?1 ORDER BY until LIMIT ?2 \(db.dialect.skippingLocked))
                RETURNING thumbnail
                """,
                [db.now, size]
            )
            try db.removeLabels(of: expired)
            return PruneStep(isLast: expired.count < size)
        }
        try await steps.take { db in
            // The keys of requests that have expired, the oldest first.
            let count = try db.execute(
                """
                DELETE FROM first_receipt WHERE key IN (
                  SELECT key FROM first_receipt WHERE at <= ?1 ORDER BY at LIMIT ?2 \(db.dialect.skippingLocked))
                """,
                [db.now - IdempotencyKey.lifetime, size]
            )
            return PruneStep(isLast: count < size)
        }
        try await steps.take { db in
            try db.execute("DELETE FROM set_aside WHERE at <= ?1", [db.now - setAsideAge])
            try db.removeForgets()
            return PruneStep(isLast: try !db.removeBatchEnds())
        }
        for table in [PrunedName.tenant, .key, .queue] {
            try await steps.take { (last: IndexEntry<Int64>?, count: Int, db: Transaction) in
                let look = "SELECT id, id AS at, (\(db.isUnused(table))) AS is_removable FROM \(table.rawValue)"
                return ("\(look) WHERE id > ?1 ORDER BY id LIMIT ?2", [last?.id ?? 0, count])
            } removing: { ids, db in
                try db.remove(ids, of: table)
            }
        }
        try await steps.take { db in
            guard try db.lockNames() else { return PruneStep(isLast: true) }
            // What retention has removed of a batch counts when that ends.
            let isEmpty = """
                NOT EXISTS (SELECT 1 FROM batch_job WHERE batch_job.batch = batch.id)
                AND NOT EXISTS (SELECT 1 FROM batch_seal WHERE batch_seal.batch = batch.name AND ended_at IS NULL)
                """
            try db.execute(
                "DELETE FROM batch WHERE id IN (SELECT id FROM batch WHERE \(isEmpty) LIMIT ?1)",
                [10 * size]
            )
            return PruneStep(isLast: true)
        }
    }
}

/// A table of names, which are removed once no job has them.
private enum PrunedName: String {
    case queue, key, tenant
}

extension QueueTransaction {
    fileprivate func isUnused(_ table: PrunedName) -> String {
        switch table {
        case .tenant:
            """
            weight = 1 AND NOT EXISTS (
              SELECT 1 FROM accepted \(dialect.indexed(by: "accepted_tenant"))
              WHERE accepted.tenant = tenant.id AND accepted.tenant <> 0)
            """
        case .key:
            """
            NOT fixed AND rate_count IS NULL AND \(dialect.runningOfKey) = 0 AND NOT EXISTS (
              SELECT 1 FROM accepted \(dialect.indexed(by: "accepted_key"))
              WHERE accepted.key = key.id AND accepted.key <> 0)
            """
        // A queue with an operator's setting is kept for future jobs.
        case .queue:
            """
            NOT paused AND NOT background AND max_running IS NULL AND rate_count IS NULL AND hook IS NULL AND NOT fair
              AND \(dialect.isEmptyQueue)
            """
        }
    }

    /// Counts what ``QueueStore/removeLeftovers(_:)`` would remove.
    func leftovers() throws -> Pruned {
        var found = Pruned()
        found.sourceFailures = try value("SELECT count(*) FROM source_failure WHERE until <= ?1", [now]) ?? 0
        found.concurrencyKeys = try value("SELECT count(*) FROM key WHERE \(isUnused(.key))") ?? 0
        found.queues = try value("SELECT count(*) FROM queue WHERE \(isUnused(.queue))") ?? 0
        return found
    }

    fileprivate func remove(_ ids: [Int64], of table: PrunedName) throws -> Pruned {
        var pruned = Pruned()
        // With a lane, SQLite looks through all tasks for one that refers to it.
        let isLong: Bool? = try value("SELECT count(*) > 50000 FROM (SELECT 1 FROM task LIMIT 50001) AS first_ones")
        guard isLong == false || table == .queue, try lockNames() else { return pruned }
        let name = table.rawValue
        // A job of one may have been added since the scan.
        let unused: [Int64] = try column(
            "SELECT id FROM \(name) WHERE id \(dialect.isIn("?1", .integers)) AND \(isUnused(table)) \(dialect.locking)",
            [ids]
        )
        // The values of its columns stay in the table of counters.
        if table == .queue { add(try everEnded(in: unused)) }
        try execute("DELETE FROM lane WHERE \(name) \(dialect.isIn("?1", .integers)) AND \(name) <> 0", [unused])
        try execute("DELETE FROM \(name) WHERE id \(dialect.isIn("?1", .integers))", [unused])
        switch table {
        case .queue: pruned.queues = unused.count
        case .key: pruned.concurrencyKeys = unused.count
        case .tenant: break
        }
        return pruned
    }

    /// The jobs that have ever ended, by queue: of all queues, or of some.
    private func everEnded(in queues: [Int64]?) throws -> StoreCounters {
        let condition = queues == nil ? "" : "WHERE queue.id \(dialect.isIn("?1", .integers))"
        let rows = try query(
            """
            SELECT name, ever_completed, ever_discarded, ever_cancelled
            FROM \(dialect.queueCounts) AS counts JOIN queue ON queue.id = counts.queue \(condition)
            """,
            queues.map { [$0] } ?? []
        )
        var ended = StoreCounters()
        for row in rows {
            for state in JobState.ends {
                guard let family = StoreCounters.Family(rawValue: state.rawValue) else { continue }
                ended.add(try row["ever_\(state.rawValue)"], to: family, try row["name"])
            }
        }
        return ended
    }

    /// What has been counted since the store was made, or since its counters were reset.
    package func counters() throws -> StoreCounters {
        let time: Int64? = try value("SELECT value FROM counter WHERE family = '\(Self.past)'")
        var counters = try everCounted().added(to: stored(Self.past))
        let begun = try time ?? value("SELECT since FROM epoch WHERE name = 'readings'")
        counters.since = begun.map(Date.init(milliseconds:))
        return counters
    }

    /// The prefix of what had been counted when the counters were reset; the time of it, by itself.
    private static var past: String { "past." }

    private func everCounted() throws -> StoreCounters {
        var counters = try everEnded(in: nil)
        counters += try stored("")
        let totals = try totals()
        counters.add(Int(try lastChange()), to: .changes)
        counters.add(totals["sources_evicted"] ?? 0, to: .evicted)
        counters.add(totals["source_bytes_evicted"] ?? 0, to: .evictedBytes)
        return counters
    }

    private func stored(_ prefix: String) throws -> StoreCounters {
        try query("SELECT family, label, value FROM counter").reduce(into: StoreCounters()) { counters, row in
            let name: String = try row["family"]
            guard name.hasPrefix(prefix) else { return }
            // A newer version may count more.
            guard let family = StoreCounters.Family(rawValue: String(name.dropFirst(prefix.count))) else { return }
            counters.add(try row["value"], to: family, try row["label"])
        }
    }

    func resetCounters() throws {
        let ever = try everCounted()
        try execute("DELETE FROM counter WHERE family LIKE '\(Self.past)%'")
        let rows = ever.entries.map { ($0.family.rawValue, $0.label, Int64($0.value)) } + [("", "", now)]
        for (family, label, value) in rows {
            let insertion = "INSERT INTO counter(family, label, value) VALUES (?1, ?2, ?3)"
            try execute(insertion, ["\(Self.past)\(family)", label, value])
        }
    }
}
