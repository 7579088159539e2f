package import CameoModel
package import CameoStore
internal import GRDB

// Concurrency and rate limits of keys. Both are counted from the jobs themselves; there is no semaphore that a dead
// worker could keep.
extension SQLiteStore {
    @discardableResult
    package func limit(key: String, to count: Int?) async throws(StoreError) -> Bool {
        try await commit { db in
            guard let count else {
                try db.execute(sql: "UPDATE key SET fixed = 0 WHERE name = ? AND fixed = 1", arguments: [key])
                return db.changesCount == 1
            }
            let id = try Keys.id(of: key, limit: nil, db)
            try db.execute(sql: "UPDATE key SET max_running = ?, fixed = 1 WHERE id = ?", arguments: [count, id])
            try Keys.decide(id, db)
            return true
        }
    }

    package func limit(key: String, toRate rate: StartRate?) async throws(StoreError) {
        try await commit { db in try Rates.set(rate, .key, try Keys.id(of: key, limit: nil, db), db) }
    }

    package func concurrencyLimits() async throws(StoreError) -> [ConcurrencyLimit] {
        try await read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT name, max_running, fixed, running, rate_count, rate_period FROM key
                    WHERE fixed = 1 OR running > 0 OR rate_count IS NOT NULL OR EXISTS (
                      SELECT 1 FROM lane INDEXED BY lane_key WHERE key = key.id AND key <> 0 AND head IS NOT NULL)
                    ORDER BY name
                    """
            )
            return rows.map(ConcurrencyLimit.init)
        }
    }

    package func concurrencyLimit(of key: String) async throws(StoreError) -> ConcurrencyLimit {
        try await read { db in
            let sql = "SELECT name, max_running, fixed, running, rate_count, rate_period FROM key WHERE name = ?"
            return try Row.fetchOne(db, sql: sql, arguments: [key]).map(ConcurrencyLimit.init)
                ?? ConcurrencyLimit(key: key, maxRunning: 1, running: 0, isFixed: false)
        }
    }
}

extension ConcurrencyLimit {
    fileprivate init(_ row: Row) {
        self.init(
            key: row["name"],
            maxRunning: row["max_running"],
            running: row["running"],
            isFixed: row["fixed"],
            rate: (row["rate_count"] as Int?).map { StartRate(count: $0, period: row["rate_period"]).description }
        )
    }
}
