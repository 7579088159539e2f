internal import CameoModel
internal import CameoStore
internal import GRDB

// DESIGN. The state of a rate is in the row of its queue or key, so it applies across workers and survives their
// deaths. An empty bucket closes its queue, or the lanes of its key, until `opens_at`.
enum Rates {
    enum Table: String {
        case queue, key
    }

    private static func bucket(_ table: Table, _ id: Int64, _ db: SQLiteTransaction) throws -> StartBucket? {
        let look = try db.cachedStatement(
            sql: "SELECT rate_count, rate_period, rate_spent FROM \(table.rawValue) WHERE id = ?"
        )
        guard let row = try Row.fetchOne(look, arguments: [id]), let count = row[0] as Int? else { return nil }
        return StartBucket(StartRate(count: count, period: row[1]), spent: row[2], now: db.now)
    }

    static func free(_ table: Table, _ id: Int64, _ db: SQLiteTransaction) throws -> Int {
        try bucket(table, id, db)?.free(now: db.now) ?? Int(Int32.max)
    }

    /// Takes starts from the buckets of a queue and a key (0: none), and closes those that are then empty.
    static func spend(_ count: Int, queue: Int64, key: Int64, _ db: SQLiteTransaction) throws {
        try spend(count, .queue, queue, db)
        if key != 0, try spend(count, .key, key, db) { try Keys.decide(key, db) }
    }

    /// - Returns: whether the bucket is now empty.
    @discardableResult
    private static func spend(_ count: Int, _ table: Table, _ id: Int64, _ db: SQLiteTransaction) throws -> Bool {
        guard var bucket = try bucket(table, id, db) else { return false }
        bucket.spend(count)
        let opensAt = bucket.opensAt(now: db.now)
        let note = try db.cachedStatement(
            sql: "UPDATE \(table.rawValue) SET rate_spent = ?, opens_at = ? WHERE id = ?"
        )
        try note.execute(arguments: [bucket.spent, opensAt ?? 0, id])
        return opensAt != nil
    }

    /// Selects rows to reopen, including those that a clock set back would keep closed for long.
    private static let isDue = "opens_at <> 0 AND (opens_at <= ?1 OR opens_at > ?1 + rate_period + 1)"

    /// Whether ``open(now:_:)`` would open anything.
    static func mayOpen(_ db: SQLiteTransaction) throws -> Bool {
        let look = try db.cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM queue INDEXED BY queue_opening WHERE \(isDue))
                  OR EXISTS (SELECT 1 FROM key INDEXED BY key_opening WHERE \(isDue))
                """
        )
        return try Bool.fetchOne(look, arguments: [db.now]) ?? false
    }

    static func open(_ db: SQLiteTransaction) throws {
        let queues = try db.cachedStatement(
            sql: "UPDATE queue INDEXED BY queue_opening SET opens_at = 0 WHERE \(isDue)"
        )
        try queues.execute(arguments: [db.now])
        let keys = try db.cachedStatement(
            sql: "UPDATE key INDEXED BY key_opening SET opens_at = 0 WHERE \(isDue) RETURNING id"
        )
        for key in try Int64.fetchAll(keys, arguments: [db.now]) { try Keys.decide(key, db) }
    }

    /// Sets or removes the rate of a queue or key, with a full bucket.
    static func set(_ rate: StartRate?, _ table: Table, _ id: Int64, _ db: SQLiteTransaction) throws {
        let set = try db.cachedStatement(
            sql: """
                UPDATE \(table.rawValue) SET rate_count = ?, rate_period = ?, rate_spent = 0, opens_at = 0 WHERE id = ?
                """
        )
        try set.execute(arguments: [rate?.count, rate?.period, id])
        if table == .key { try Keys.decide(id, db) }
    }
}
