package import CameoModel
internal import GRDB

// DESIGN. How many jobs of a queue or of a concurrency key run is counted, by triggers, from the jobs themselves: there is
// no semaphore that a dead worker could keep. A claim takes no more than there is room for.
//
// A full key may own fifty thousand jobs in front of all others, and a claim must not walk over them. So a job of a key
// enters the queue `held`, which keeps it out of the index `job_ready`; and of each queue as many jobs of a key are opened,
// the lowest ranks first, as the key has room. Whatever may change that (a job comes, goes, moves; a limit is set) marks
// the key as `changed`, and the next claim decides anew. Per queue, because the first job of a key may wait in a queue
// that is paused, or that nobody serves, and must not keep the key's jobs of other queues waiting.
extension Store {
    /// Keys decided anew in one claim, at most.
    private static let decisions = 256

    /// A queue with waiting jobs that is not paused and not full.
    struct OpenQueue {
        let name: String
        let room: Int
    }

    static func openQueues(_ db: Database, _ wanted: [String]?) throws -> [OpenQueue] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT queue.name, queue.max_running, coalesce(running.count, 0) AS running
                FROM job_count AS waiting JOIN queue ON queue.name = waiting.queue
                  LEFT JOIN job_count AS running ON running.queue = waiting.queue AND running.state = 'running'
                WHERE waiting.state = 'available' AND waiting.count > 0 AND NOT queue.paused
                """
        )
        return try Row.fetchAll(statement).compactMap { row in
            let name: String = row["name"]
            let room = (row["max_running"] as Int?).map { $0 - (row["running"] as Int) } ?? .max
            return room > 0 && wanted?.contains(name) != false ? OpenQueue(name: name, room: room) : nil
        }
    }

    /// How many more jobs of a key may run.
    static func room(of key: String, _ db: Database) throws -> Int {
        let statement = try db.cachedStatement(
            sql: "SELECT max(0, max_running - running) FROM concurrency WHERE key = ?"
        )
        guard let room = try Int.fetchOne(statement, arguments: [key]) else {
            throw StoreError.failed("the concurrency key \(key) has no limit")
        }
        return room
    }

    /// Opens and holds the jobs of keys of which something has changed.
    static func decideWhoIsHeld(_ db: Database) throws {
        let changed = try db.cachedStatement(
            sql: "SELECT key FROM concurrency INDEXED BY concurrency_changed WHERE changed = 1 LIMIT ?"
        )
        let done = try db.cachedStatement(sql: "UPDATE concurrency SET changed = 0 WHERE key = ?")
        for key in try String.fetchAll(changed, arguments: [decisions]) {
            let room = try room(of: key, db)
            for queue in try queues(of: key, db) { try decide(key, queue, room, db) }
            try done.execute(arguments: [key])
        }
    }

    /// Queues in which jobs of a key are due. Goes from one to the next: of each there may be very many.
    private static func queues(of key: String, _ db: Database) throws -> [String] {
        let jobs = "FROM job INDEXED BY job_key WHERE state = 'available' AND concurrency_key = ?1"
        let statement = try db.cachedStatement(
            sql: """
                WITH RECURSIVE found(queue) AS (
                  SELECT min(queue) \(jobs)
                  UNION ALL SELECT (SELECT min(queue) \(jobs) AND queue > found.queue) FROM found WHERE queue IS NOT NULL)
                SELECT queue FROM found WHERE queue IS NOT NULL
                """
        )
        return try String.fetchAll(statement, arguments: [key])
    }

    private static func decide(_ key: String, _ queue: String, _ room: Int, _ db: Database) throws {
        let first = """
            SELECT id FROM job INDEXED BY job_key
            WHERE state = 'available' AND concurrency_key = ?1 AND queue = ?2 ORDER BY rank LIMIT ?3
            """
        let open = try db.cachedStatement(sql: "UPDATE job SET held = 0 WHERE held = 1 AND id IN (\(first))")
        try open.execute(arguments: [key, queue, room])
        let hold = try db.cachedStatement(
            sql: """
                UPDATE job SET held = 1 WHERE id IN (
                  SELECT id FROM job INDEXED BY job_key_open
                  WHERE state = 'available' AND held = 0 AND concurrency_key = ?1 AND queue = ?2 AND id NOT IN (\(first)))
                """
        )
        try hold.execute(arguments: [key, queue, room])
    }

    // MARK: - For operators

    /// Sets how many jobs of a concurrency key may run at once, whatever requests say; nil: requests decide again, from
    /// the limit that it has now.
    ///
    /// - Returns: false if there was no operator's limit to take away.
    @discardableResult
    package func limit(key: String, to count: Int?) async throws(StoreError) -> Bool {
        try await commit { db in
            guard let count else {
                try db.execute(sql: "UPDATE concurrency SET fixed = 0 WHERE key = ? AND fixed = 1", arguments: [key])
                return db.changesCount == 1
            }
            try db.execute(
                sql: """
                    INSERT INTO concurrency(key, max_running, fixed) VALUES (?, ?, 1)
                    ON CONFLICT(key) DO UPDATE SET max_running = excluded.max_running, fixed = 1
                    """,
                arguments: [key, count]
            )
            return true
        }
    }

    /// The concurrency keys with due or running jobs, and those that an operator has limited, by name.
    package func concurrencyLimits() async throws(StoreError) -> [ConcurrencyLimit] {
        try await read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT key, max_running, fixed, running FROM concurrency
                    WHERE fixed = 1 OR running > 0 OR EXISTS (
                      SELECT 1 FROM job INDEXED BY job_key WHERE state = 'available' AND concurrency_key = concurrency.key)
                    ORDER BY key
                    """
            )
            return rows.map(ConcurrencyLimit.init)
        }
    }

    /// What one concurrency key allows; of a key that nobody has named, what its first request would be allowed.
    package func concurrencyLimit(of key: String) async throws(StoreError) -> ConcurrencyLimit {
        try await read { db in
            let sql = "SELECT key, max_running, fixed, running FROM concurrency WHERE key = ?"
            return try Row.fetchOne(db, sql: sql, arguments: [key]).map(ConcurrencyLimit.init)
                ?? ConcurrencyLimit(key: key, maxRunning: 1, running: 0, isFixed: false)
        }
    }
}

extension ConcurrencyLimit {
    fileprivate init(_ row: Row) {
        self.init(
            key: row["key"],
            maxRunning: row["max_running"],
            running: row["running"],
            isFixed: row["fixed"]
        )
    }
}
