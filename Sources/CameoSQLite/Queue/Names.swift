internal import CameoStore
internal import GRDB

/// Names that rows reference by number.
enum Names {
    /// Finds or creates a queue.
    static func queue(_ name: String, _ db: SQLiteTransaction) throws -> Int64 { try id(of: name, in: "queue", db) }

    /// Finds or creates a batch.
    static func batch(_ name: String, _ db: SQLiteTransaction) throws -> Int64 { try id(of: name, in: "batch", db) }

    private static func id(of name: String, in table: String, _ db: SQLiteTransaction) throws -> Int64 {
        let find = try db.cachedStatement(sql: "SELECT id FROM \(table) WHERE name = ?")
        if let id = try Int64.fetchOne(find, arguments: [name]) { return id }
        try db.cachedStatement(sql: "INSERT INTO \(table)(name) VALUES (?)").execute(arguments: [name])
        return db.lastInsertedRowID
    }
}
