internal import CameoModel
internal import CameoStore
internal import GRDB

// Checks the invariants that claims and settlements maintain for jobs and limits.
extension SQLiteStore {
    static func limits(_ db: SQLiteTransaction) throws -> CheckFinding {
        let counts = try Row.fetchAll(db.sqlite, sql: Counters.wrongKeys)
        let lanes = try String.fetchAll(db.sqlite, sql: Counters.wrongLanes)
        let heads = try String.fetchAll(db.sqlite, sql: Counters.highHeads)
        return CheckFinding(
            "limits",
            counts.map { row in
                "the concurrency key \(row["key"] as String) counts \(row["running"] as Int) running jobs and has "
                    + "\(row["actual"] as Int)"
            } + lanes.map { "the concurrency key \($0) has room but its jobs are blocked, or the reverse" }
                + heads.map { "the queue \($0) has waiting jobs that a claim would not find" },
            ok: "every concurrency key counts its running jobs, and claims can find every waiting job",
            advice: "\(repairCommand) recounts; until then too many or too few jobs of the key may run"
        )
    }

    /// Unfinished jobs whose request nobody can read: a byte has flipped on disk, or a program went around the checks.
    static let unreadableRequests = """
        SELECT id FROM job WHERE NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = job.id)
          AND CASE WHEN json_valid(request)
            THEN json_type(request) IS NOT 'object' OR json_type(request, '$.source') IS NOT 'text' ELSE 1 END
        """

    static func requests(_ db: SQLiteTransaction) throws -> CheckFinding {
        CheckFinding(
            "requests",
            try Int64.fetchAll(db.sqlite, sql: unreadableRequests).map { "the request of job \($0) cannot be read" },
            ok: "every unfinished job has a request that can be read",
            advice: "\(repairCommand) discards such jobs, as does the next claim"
        )
    }

    /// Checks that every job is in the queue, in the history, or unaccepted.
    static func places(_ db: SQLiteTransaction) throws -> CheckFinding {
        let ids = try Int64.fetchAll(
            db.sqlite,
            sql: """
                SELECT id FROM task WHERE id IN (SELECT id FROM outcome)
                UNION SELECT id FROM task WHERE id NOT IN (SELECT id FROM accepted)
                UNION SELECT id FROM job WHERE id <= (SELECT value FROM sequence WHERE name = 'accepted')
                  AND id NOT IN (SELECT id FROM task) AND id NOT IN (SELECT id FROM outcome)
                """
        )
        return CheckFinding(
            "jobs",
            ids.map { "job \($0) is neither in the queue nor in the history, or in both" },
            ok: "every job is in the queue, in the history, or waits to be accepted",
            advice: "Another program changed the tables. Restore a backup"
        )
    }
}
