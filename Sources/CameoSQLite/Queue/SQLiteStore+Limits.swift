package import CameoModel
internal import CameoQueue
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
        try await read { db in try db.concurrencyLimits() }
    }

    package func concurrencyLimit(of key: String) async throws(StoreError) -> ConcurrencyLimit {
        try await read { db in try db.concurrencyLimit(of: key) }
    }
}
