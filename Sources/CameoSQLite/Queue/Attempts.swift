internal import CameoModel
internal import CameoStore
internal import GRDB

/// Repairs jobs that run for an unknown worker.
enum Attempts {
    static let withoutWorker = "SELECT id FROM task WHERE state = 2 AND worker NOT IN (SELECT id FROM worker)"

    /// Releases those jobs without counting their attempts.
    ///
    /// - Returns: the number of jobs.
    static func reconcile(now: Int64, _ db: Database) throws -> Int {
        var ledger = Ledger(now: now)
        let tasks = try TaskRow.all("WHERE id IN (\(withoutWorker)) ORDER BY id", [], db)
        for task in tasks {
            guard try SQLiteStore.close(task, as: .interrupted, now: now, &ledger, db) else { continue }
            _ = try SQLiteStore.giveBack(task, deaths: 0, now: now, &ledger, db)
        }
        try ledger.post(db)
        return tasks.count
    }
}
