internal import CameoModel
internal import GRDB

// What the triggers and the claims keep true of unique keys and limits.
extension Store {
    static func limits(_ db: Database) throws -> CheckFinding {
        let counts = try Row.fetchAll(db, sql: Counters.wrongKeys)
        let closed = try String.fetchAll(db, sql: Counters.closedKeys)
        return CheckFinding(
            "limits",
            counts.map { row in
                "the concurrency key \(row["key"] as String) counts \(row["running"] as Int) running jobs and has "
                    + "\(row["actual"] as Int)"
            } + closed.map { "the concurrency key \($0) has room, but all its jobs are held" },
            ok: "every concurrency key counts the jobs that run",
            mend: "`cameo-admin check --repair` counts anew; until then the key lets too many run, or too few"
        )
    }

    /// A row that nobody named yet is no fault: the next claim or enqueue does it.
    static func uniqueKeys(_ db: Database) throws -> CheckFinding {
        let odd = try Int64.fetchAll(
            db,
            sql: """
                SELECT id FROM job WHERE joinable = 1 AND state NOT IN ('scheduled', 'available', 'retryable')
                """
        )
        return CheckFinding(
            "uniqueness",
            odd.map { "job \($0) stands for a unique key, but does not wait" },
            ok: "of waiting jobs for the same thumbnails there is one",
            mend: "Another program changed the tables; cancel and retry the job"
        )
    }
}
