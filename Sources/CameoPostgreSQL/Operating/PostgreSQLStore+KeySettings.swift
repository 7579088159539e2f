internal import CameoQueue
package import CameoStore

extension PostgreSQLStore {
    @discardableResult
    package func limit(key: String, to count: Int?) async throws(StoreError) -> Bool {
        try await commit { db in
            guard let count else {
                return try db.execute("UPDATE key SET fixed = false WHERE name = $1 AND fixed", [key]) == 1
            }
            let id = try db.key(key, limit: nil)
            try db.execute("UPDATE key SET max_running = $1, fixed = true WHERE id = $2", [count, id])
            return true
        }
    }

    package func limit(key: String, toRate rate: StartRate?) async throws(StoreError) {
        try await commit { db in
            let id = try db.key(key, limit: nil)
            try Rates.set(rate, .key, id, db)
        }
    }
}
