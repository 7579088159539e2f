internal import CameoModel
internal import CameoStore
internal import GRDB

/// Jobs and workers that disagree on what runs.
enum Attempts {
    /// Ids of jobs that run for a worker that nobody knows.
    static let runWithout = "SELECT id FROM task WHERE state = 2 AND worker NOT IN (SELECT id FROM worker)"

    /// Lets the jobs wait again, uncharged, and closes their attempts.
    ///
    /// - Returns: how many they were.
    static func reconcile(now: Int64, _ db: Database) throws -> Int {
        var ledger = Ledger(now: now)
        let tasks = try TaskRow.all("WHERE id IN (\(runWithout)) ORDER BY id", [], db)
        for task in tasks {
            try SQLiteStore.close(task, as: .interrupted, now: now, db)
            _ = try SQLiteStore.giveBack(task, deaths: 0, now: now, &ledger, db)
        }
        try ledger.post(db)
        return tasks.count
    }
}
