internal import CameoStore
internal import GRDB

extension Schema {
    /// The tables and triggers of moves, which only stores have that moved.
    static let namesOfMoves: Set<String> = ["move", closingTrigger]

    /// Refuses jobs that SQL inserts while the store is closed.
    private static let closingTrigger = "job_is_closed"

    private static let moves = """
        -- A move away from here, and one to here.
        CREATE TABLE IF NOT EXISTS move(
          direction TEXT PRIMARY KEY CHECK (direction = 'away' OR direction = 'here'),
          -- The same in both stores.
          id TEXT NOT NULL,
          -- The other store.
          place TEXT NOT NULL,
          begun_at INTEGER NOT NULL,
          ended_at INTEGER,
          -- The kind of the records that arrived last, and the last of them; no cursor: all of the kind.
          kind TEXT,
          cursor TEXT
        ) STRICT, WITHOUT ROWID;
        """

    /// Closes the store to all but the move.
    static func close(for move: StoreMove, now: Int64, _ db: Database) throws {
        try db.execute(sql: moves)
        try db.execute(
            sql: "INSERT OR REPLACE INTO move(direction, id, place, begun_at) VALUES (?, ?, ?, ?)",
            arguments: [move.direction.rawValue, move.id, move.place, now]
        )
        let reason = move.refusalOfJobs.replacing("'", with: "''")
        try db.execute(
            sql: """
                CREATE TRIGGER \(closingTrigger) BEFORE INSERT ON job BEGIN SELECT RAISE(ABORT, '\(reason)'); END;
                PRAGMA user_version = \(MarkedVersion(version: currentVersion, direction: move.direction).stored);
                """
        )
    }

    static func reopen(_ db: Database) throws {
        try db.execute(
            sql: "DROP TRIGGER IF EXISTS \(closingTrigger); PRAGMA user_version = \(currentVersion);"
        )
    }

    /// Runs a body without the triggers that refuse what only a move may insert.
    static func openingDoor(_ db: Database, _ body: () throws -> Void) throws {
        let names = ["job_id", closingTrigger, "upload_id", "upload_enqueues"]
        var texts: [String] = []
        for name in names {
            let find = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?"
            guard let text = try String.fetchOne(db, sql: find, arguments: [name]) else { continue }
            texts.append(text)
            try db.execute(sql: "DROP TRIGGER \(name)")
        }
        try body()
        for text in texts { try db.execute(sql: text) }
    }
}
