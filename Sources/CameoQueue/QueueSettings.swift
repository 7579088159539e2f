package import CameoModel
package import CameoStore

// What operators set for queues and concurrency keys.
extension QueueStore {
    package func pause(_ queue: String, unknown: UnknownQueue) async throws(StoreError) -> Bool {
        try await commit(.new) { db in try db.setPaused(true, queue, unknown) }
    }

    package func resume(_ queue: String) async throws(StoreError) -> Bool {
        try await commit(.new) { db in try db.setPaused(false, queue, .refused) }
    }

    package func limit(queue: String, to count: Int?, unknown: UnknownQueue) async throws(StoreError) {
        try await commit(.new) { db in try db.settle(.queue, try db.set("max_running", count, of: queue, unknown)) }
    }

    package func limit(queue: String, toRate rate: StartRate?, unknown: UnknownQueue) async throws(StoreError) {
        try await commit(.new) { db in try db.set(rate, .queue, try db.require(queue, unknown)) }
    }

    package func setBackground(_ isBackground: Bool, queue: String, unknown: UnknownQueue) async throws(StoreError) {
        try await commit(.new) { db in _ = try db.set("background", isBackground, of: queue, unknown) }
    }

    package func setFair(_ isFair: Bool, queue: String, unknown: UnknownQueue) async throws(StoreError) {
        try await commit(.new) { db in try db.setFair(isFair, queue: try db.require(queue, unknown)) }
    }

    package func setWeight(_ weight: Double, ofTenant name: String) async throws(StoreError) {
        try await commit(.new) { db in try db.setWeight(weight, ofTenant: name) }
    }

    package func tenants(_ choice: TenantChoice) async throws(StoreError) -> TenantList {
        try await read { db in try db.tenants(choice) }
    }

    package func setHook(_ hook: String?, ofQueue queue: String, unknown: UnknownQueue) async throws(StoreError) {
        try await commit(.new) { db in _ = try db.set("hook", hook, of: queue, unknown) }
    }

    @discardableResult
    package func limit(key name: String, to count: Int?) async throws(StoreError) -> Bool {
        try await commit(.new) { db in
            guard let count else {
                let no = db.dialect.no
                return try db.execute("UPDATE key SET fixed = \(no) WHERE name = ?1 AND fixed <> \(no)", [name]) == 1
            }
            let id = try db.key(name, limit: nil)
            try db.execute("UPDATE key SET max_running = ?1, fixed = ?2 WHERE id = ?3", [count, true, id])
            try db.settle(.key, id)
            return true
        }
    }

    package func limit(key: String, toRate rate: StartRate?) async throws(StoreError) {
        try await commit(.new) { db in try db.set(rate, .key, try db.key(key, limit: nil)) }
    }

    package func concurrencyLimits() async throws(StoreError) -> [ConcurrencyLimit] {
        try await read { db in
            try db.limits(
                """
                WHERE fixed OR \(db.dialect.runningOfKey) > 0 OR rate_count IS NOT NULL OR EXISTS (
                  SELECT 1 FROM lane \(db.dialect.indexed(by: "lane_key"))
                  WHERE lane.key = key.id AND lane.key <> 0 AND head IS NOT NULL)
                ORDER BY name
                """,
                []
            )
        }
    }

    package func concurrencyLimit(of key: String) async throws(StoreError) -> ConcurrencyLimit {
        let limits = try await read { db in try db.limits("WHERE name = ?1", [key]) }
        return limits.first ?? ConcurrencyLimit(key: key, maxRunning: 1, running: 0, isFixed: false)
    }
}

extension QueueTransaction {
    /// The number of a queue.
    ///
    /// - Throws: ``StoreError/noSuch(_:_:)`` unless it exists or may be created.
    fileprivate func require(_ name: String, _ unknown: UnknownQueue) throws -> Int64 {
        if case .created = unknown { return try queue(name) }
        guard let id: Int64 = try value("SELECT id FROM queue WHERE name = ?1", [name]) else {
            throw StoreError.noSuch(.queue, name)
        }
        return id
    }

    /// Sets a column of a queue, and returns the queue's number.
    fileprivate func set(
        _ column: String,
        _ value: (any SQLBindable)?,
        of queue: String,
        _ unknown: UnknownQueue
    ) throws -> Int64 {
        let id = try require(queue, unknown)
        try execute("UPDATE queue SET \(column) = ?2 WHERE id = ?1", [id, value])
        return id
    }

    /// Returns whether that is news.
    fileprivate func setPaused(_ isPaused: Bool, _ queue: String, _ unknown: UnknownQueue) throws -> Bool {
        let id = try require(queue, unknown)
        let change = "UPDATE queue SET paused = ?2, paused_at = ?3 WHERE id = ?1 AND paused <> ?2"
        return try execute(change, [id, isPaused, isPaused ? now : nil]) == 1
    }

    fileprivate func limits(_ rest: String, _ values: [(any SQLBindable)?]) throws -> [ConcurrencyLimit] {
        let columns = """
            name, max_running, fixed, \(dialect.runningOfKey) AS running, rate_count, rate_period, (
              SELECT count(*) FROM lane \(dialect.indexed(by: "lane_key")) JOIN task ON task.lane = lane.id
              WHERE lane.key = key.id AND lane.key <> 0 AND task.\(TaskRow.isReady)) AS waiting
            """
        return try query("SELECT \(columns) FROM key \(rest)", values).map { row in
            try ConcurrencyLimit(
                key: row["name"],
                maxRunning: row["max_running"],
                running: row["running"],
                waiting: row["waiting"],
                isFixed: row["fixed"],
                rate: (row["rate_count"] as Int?).map {
                    try StartRate(count: $0, period: row["rate_period"]).description
                }
            )
        }
    }
}

/// What has a limit and a rate.
package enum LimitedTable: String, Sendable {
    case queue, key
}

// DESIGN. The state of a rate is in the row of its queue or key, so it applies across workers and survives their
// deaths. An empty bucket closes its queue, or the lanes of its key, until `opens_at`. Whoever spends has locked the row.
extension QueueTransaction {
    private func bucket(_ table: LimitedTable, _ id: Int64) throws -> StartBucket? {
        let look = "SELECT rate_count, rate_period, rate_spent FROM \(table.rawValue) WHERE id = ?1"
        guard let row = try row(look, [id]), let count: Int = try row["rate_count"] else { return nil }
        let rate = StartRate(count: count, period: try row["rate_period"])
        return StartBucket(rate, spent: try row["rate_spent"], now: now)
    }

    /// How many starts a rate allows now.
    package func freeStarts(_ table: LimitedTable, _ id: Int64) throws -> Int {
        try bucket(table, id)?.free(now: now) ?? Int(Int32.max)
    }

    /// Takes starts from a bucket, and closes it if it is then empty; returns whether it is.
    @discardableResult
    package func spend(_ count: Int, _ table: LimitedTable, _ id: Int64) throws -> Bool {
        guard var bucket = try bucket(table, id) else { return false }
        bucket.spend(count)
        let opensAt = bucket.opensAt(now: now)
        try execute(
            "UPDATE \(table.rawValue) SET rate_spent = ?1, opens_at = ?2 WHERE id = ?3",
            [bucket.spent, opensAt ?? 0, id]
        )
        return opensAt != nil
    }

    /// Sets or removes the rate of a queue or key, with a full bucket.
    fileprivate func set(_ rate: StartRate?, _ table: LimitedTable, _ id: Int64) throws {
        let change =
            "UPDATE \(table.rawValue) SET rate_count = ?1, rate_period = ?2, rate_spent = 0, opens_at = 0 WHERE id = ?3"
        try execute(change, [rate?.count, rate?.period, id])
        try settle(table, id)
    }
}
