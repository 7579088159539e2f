internal import CameoModel
package import CameoStore
internal import GRDB

extension SQLiteStore {
    package func metrics() async throws(StoreError) -> StoreMetrics {
        let directory = directory
        return try await read { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
            return StoreMetrics(
                counters: try Self.counters(db),
                renderers: try Self.renderers(db, directory),
                databaseBytes: pages * pageSize
            )
        }
    }

    /// Adds to the stored counters.
    static func add(_ counted: StoreCounters, _ db: Database) throws {
        let add = try db.cachedStatement(
            sql: """
                INSERT INTO counter(family, label, value) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET value = value + excluded.value
                """
        )
        for (family, label, value) in counted.entries {
            try add.execute(arguments: [family.rawValue, label, value])
        }
    }

    private static func counters(_ db: Database) throws -> StoreCounters {
        var counters = try everEnded(in: nil, db)
        let stored = try db.cachedStatement(sql: "SELECT family, label, value FROM counter")
        let rows = try Row.fetchCursor(stored)
        while let row = try rows.next() {
            // A newer version may count more.
            guard let family = StoreCounters.Family(rawValue: row[0]) else { continue }
            counters.add(row[2], to: family, row[1])
        }
        return counters
    }

    /// The jobs of one queue, or of all, that have ever ended, by queue.
    static func everEnded(in queue: Int64?, _ db: Database) throws -> StoreCounters {
        let statement = try db.cachedStatement(
            sql: """
                SELECT name, ever_completed, ever_discarded, ever_cancelled
                FROM queue_count JOIN queue ON queue.id = queue_count.queue WHERE queue.id = coalesce(?, queue.id)
                """
        )
        var ended = StoreCounters()
        let rows = try Row.fetchCursor(statement, arguments: [queue])
        while let row = try rows.next() {
            for (index, state) in JobState.ends.enumerated() {
                if let family = StoreCounters.Family(state) { ended.add(row[index + 1], to: family, row[0]) }
            }
        }
        return ended
    }

    private static func renderers(_ db: Database, _ directory: StoreDirectory) throws -> Int {
        try Row.fetchAll(db, sql: "SELECT id, renderers FROM worker WHERE renderers > 0").reduce(0) { sum, row in
            sum + (try WorkerRegistration.isAlive(row["id"], in: directory) ? row["renderers"] : 0)
        }
    }
}
