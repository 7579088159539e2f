internal import CameoModel
internal import CameoQueue
internal import CameoStore

// DESIGN. The state of a rate is in the row of its queue or key, so it applies across workers and survives their
// deaths. An empty bucket closes its queue, or the lanes of its key, until `opens_at`. Whoever spends has locked the row.
enum Rates {
    enum Table: String {
        case queue, key
    }

    private static func bucket(_ table: Table, _ id: Int64, _ db: Database) throws -> StartBucket? {
        let look = "SELECT rate_count, rate_period, rate_spent FROM \(table.rawValue) WHERE id = $1"
        guard let row = try db.row(look, [id]), let count: Int = try row[0] else { return nil }
        return StartBucket(StartRate(count: count, period: try row[1]), spent: try row[2], now: db.now)
    }

    static func free(_ table: Table, _ id: Int64, _ db: Database) throws -> Int {
        try bucket(table, id, db)?.free(now: db.now) ?? Int(Int32.max)
    }

    /// Takes starts from a bucket, and closes it if it is then empty.
    static func spend(_ count: Int, _ table: Table, _ id: Int64, _ db: Database) throws {
        guard var bucket = try bucket(table, id, db) else { return }
        bucket.spend(count)
        try db.execute(
            "UPDATE \(table.rawValue) SET rate_spent = $1, opens_at = $2 WHERE id = $3",
            [bucket.spent, bucket.opensAt(now: db.now) ?? 0, id]
        )
    }

    /// Selects rows to reopen, including those that a clock set back would keep closed for long.
    private static func isDue(at time: String) -> String {
        "opens_at <> 0 AND (opens_at <= \(time) OR opens_at > \(time) + rate_period + 1)"
    }

    /// Whether ``open(_:)`` would open anything, as SQL.
    static func mayOpen(at time: String) -> String {
        "EXISTS (SELECT 1 FROM queue WHERE \(isDue(at: time))) OR EXISTS (SELECT 1 FROM key WHERE \(isDue(at: time)))"
    }

    /// Opens what is due. Rows that another transaction has locked are left to it.
    static func open(_ db: Database) throws {
        for table in ["queue", "key"] {
            try db.execute(
                """
                UPDATE \(table) SET opens_at = 0
                WHERE id IN (SELECT id FROM \(table) WHERE \(isDue(at: "$1")) ORDER BY id FOR UPDATE SKIP LOCKED)
                """,
                [db.now]
            )
        }
    }

    /// Sets or removes the rate of a queue or key, with a full bucket.
    static func set(_ rate: StartRate?, _ table: Table, _ id: Int64, _ db: Database) throws {
        try db.execute(
            """
            UPDATE \(table.rawValue) SET rate_count = $1, rate_period = $2, rate_spent = 0, opens_at = 0 WHERE id = $3
            """,
            [rate?.count, rate?.period, id]
        )
    }
}
