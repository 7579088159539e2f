internal import CameoQueue
package import CameoStore

extension PostgreSQLStore {
    package func pause(_ queue: String, unknown: UnknownQueue = .refused) async throws(StoreError) -> Bool {
        try await setPaused(true, queue, unknown)
    }

    package func resume(_ queue: String) async throws(StoreError) -> Bool {
        try await setPaused(false, queue, .refused)
    }

    package func limit(
        queue: String,
        to count: Int?,
        unknown: UnknownQueue = .refused
    ) async throws(StoreError) {
        try await commit { db in
            let id = try Self.require(queue, unknown, db)
            try db.execute("UPDATE queue SET max_running = $2 WHERE id = $1", [id, count])
        }
    }

    package func limit(
        queue: String,
        toRate rate: StartRate?,
        unknown: UnknownQueue = .refused
    ) async throws(StoreError) {
        try await commit { db in try Rates.set(rate, .queue, try Self.require(queue, unknown, db), db) }
    }

    package func setBackground(
        _ isBackground: Bool,
        queue: String,
        unknown: UnknownQueue
    ) async throws(StoreError) {
        try await commit { db in
            let id = try Self.require(queue, unknown, db)
            try db.execute("UPDATE queue SET background = $2 WHERE id = $1", [id, isBackground])
        }
    }

    private func setPaused(_ isPaused: Bool, _ queue: String, _ unknown: UnknownQueue) async throws(StoreError) -> Bool
    {
        try await commit { db in
            let id = try Self.require(queue, unknown, db)
            let sql = "UPDATE queue SET paused = $2 WHERE id = $1 AND paused <> $2"
            return try db.execute(sql, [id, isPaused]) == 1
        }
    }

    /// The number of a queue.
    ///
    /// - Throws: ``StoreError/noSuch(_:_:)`` unless it exists or may be created.
    static func require(_ queue: String, _ unknown: UnknownQueue, _ db: Database) throws -> Int64 {
        if case .created = unknown { return try db.queue(queue) }
        guard let id: Int64 = try db.value("SELECT id FROM queue WHERE name = $1", [queue]) else {
            throw StoreError.noSuch(.queue, queue)
        }
        return id
    }
}
