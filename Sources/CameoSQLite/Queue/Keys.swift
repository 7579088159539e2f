internal import CameoStore
internal import GRDB

enum Keys {
    /// Finds or creates a key. The latest request that names a limit sets it, unless an operator has set one; by
    /// default one job runs at a time.
    static func id(of name: String, limit: Int?, _ db: SQLiteTransaction) throws -> Int64 {
        let find = try db.cachedStatement(sql: "SELECT id, max_running, fixed FROM key WHERE name = ?")
        guard let row = try Row.fetchOne(find, arguments: [name]) else {
            let insert = try db.cachedStatement(sql: "INSERT INTO key(name, max_running) VALUES (?, ?)")
            try insert.execute(arguments: [name, limit ?? 1])
            return db.lastInsertedRowID
        }
        let id: Int64 = row[0]
        if let limit, row[1] != limit, row[2] == 0 {
            let set = try db.cachedStatement(sql: "UPDATE key SET max_running = ? WHERE id = ?")
            try set.execute(arguments: [limit, id])
            try decide(id, db)
        }
        return id
    }

    static func count(_ change: Int, of key: Int64, _ db: SQLiteTransaction) throws {
        let count = try db.cachedStatement(sql: "UPDATE key SET running = running + ? WHERE id = ?")
        try count.execute(arguments: [change, key])
        try decide(key, db)
    }

    /// Opens the key's lanes if it has room, otherwise closes them.
    static func decide(_ key: Int64, _ db: SQLiteTransaction) throws {
        let look = try db.cachedStatement(
            sql: "SELECT running >= max_running OR opens_at <> 0 FROM key WHERE id = ?"
        )
        if let isFull = try Bool.fetchOne(look, arguments: [key]) { try Lanes.set(shut: isFull, key: key, db) }
    }
}
