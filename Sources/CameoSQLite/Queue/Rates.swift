internal import CameoQueue
internal import GRDB

enum Rates {
    /// Takes starts from the buckets of a queue and a key (0: none), and closes those that are then empty.
    static func spend(_ count: Int, queue: Int64, key: Int64, _ db: SQLiteTransaction) throws {
        try db.spend(count, .queue, queue)
        if key != 0, try db.spend(count, .key, key) { try Keys.decide(key, db) }
    }

    /// Whether ``open(_:)`` would open anything.
    static func mayOpen(_ db: SQLiteTransaction) throws -> Bool {
        try db.value("SELECT \(db.dialect.mayOpen(at: "?1"))", [db.now]) ?? false
    }

    static func open(_ db: SQLiteTransaction) throws {
        let isDue = db.dialect.isOpeningDue(at: "?1")
        try db.execute("UPDATE queue INDEXED BY queue_opening SET opens_at = 0 WHERE \(isDue)", [db.now])
        let keys: [Int64] = try db.column(
            "UPDATE key INDEXED BY key_opening SET opens_at = 0 WHERE \(isDue) RETURNING id",
            [db.now]
        )
        for key in keys { try Keys.decide(key, db) }
    }
}
