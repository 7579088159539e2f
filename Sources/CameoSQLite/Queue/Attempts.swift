internal import CameoModel
internal import CameoStore
internal import GRDB

/// Repairs jobs that run for an unknown worker.
enum Attempts {
    static let withoutWorker = "SELECT id FROM task WHERE state = 2 AND worker NOT IN (SELECT id FROM worker)"

    /// Releases those jobs without counting their attempts.
    ///
    /// - Returns: the number of jobs.
    static func reconcile(_ db: SQLiteTransaction) throws -> Int {
        let tasks = try TaskRow.all("WHERE id IN (\(withoutWorker)) ORDER BY id", [], db)
        for task in tasks {
            guard try SQLiteStore.close(task, as: .interrupted, db) else { continue }
            _ = try SQLiteStore.giveBack(task, deaths: 0, db)
        }
        try db.flush()
        return tasks.count
    }
}
