internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import GRDB

extension SQLiteStore {
    package func metrics() async throws(StoreError) -> StoreMetrics {
        let directory = directory
        return try await read { db in
            let pages = try Int.fetchOne(db.sqlite, sql: "PRAGMA page_count") ?? 0
            let pageSize = try Int.fetchOne(db.sqlite, sql: "PRAGMA page_size") ?? 0
            return StoreMetrics(
                counters: try db.counters(),
                renderers: try Self.renderers(db, directory),
                databaseBytes: pages * pageSize
            )
        }
    }

    private static func renderers(_ db: SQLiteTransaction, _ directory: StoreDirectory) throws -> Int {
        try Row.fetchAll(db.sqlite, sql: "SELECT id, renderers FROM worker WHERE renderers > 0").reduce(0) { sum, row in
            sum + (try WorkerRegistration.isAlive(row["id"], in: directory) ? row["renderers"] : 0)
        }
    }
}
