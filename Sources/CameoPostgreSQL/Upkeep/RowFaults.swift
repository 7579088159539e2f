internal import CameoModel
internal import CameoQueue
internal import CameoStore

/// Selects rows that disagree with one another, which no transaction of Cameo leaves.
enum RowFaults {
    /// The tables whose rows have no foreign key to their job, and the column that names it.
    private static let parts = [
        ("task", "id"), ("outcome", "id"), ("accepted", "id"), ("arrival", "id"), ("earlier_attempt", "job_id"),
    ]

    private static func isDangling(_ table: String, _ column: String) -> String {
        "FROM \(table) WHERE NOT EXISTS (SELECT 1 FROM job WHERE job.id = \(table).\(column))"
    }

    static func dangling(_ db: PostgreSQLTransaction) throws -> [(table: String, count: Int)] {
        try parts.compactMap { table, column in
            let count: Int = try db.value("SELECT count(*) \(isDangling(table, column))") ?? 0
            return count > 0 ? (table, count) : nil
        }
    }

    static func removeDangling(_ db: PostgreSQLTransaction) throws -> Int {
        try parts.reduce(0) { count, part in try count + db.execute("DELETE \(isDangling(part.0, part.1))") }
    }

    // MARK: - Places of jobs

    /// Jobs that nobody would ever run: without a row that says what became of them.
    static let lost = """
        SELECT id FROM job WHERE NOT EXISTS (SELECT 1 FROM task WHERE task.id = job.id)
          AND NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = job.id)
          AND NOT EXISTS (SELECT 1 FROM arrival WHERE arrival.id = job.id)
        ORDER BY id
        """
    /// Jobs that have ended and are still in the queue.
    static let doubled = """
        SELECT outcome.id FROM outcome WHERE EXISTS (SELECT 1 FROM task WHERE task.id = outcome.id)
          OR EXISTS (SELECT 1 FROM arrival WHERE arrival.id = outcome.id)
        ORDER BY id
        """
    /// Outcomes of jobs that have a later one too.
    private static let earlierOutcomes = """
        FROM outcome WHERE EXISTS (
          SELECT 1 FROM outcome AS later WHERE later.id = outcome.id AND later.finalized_at > outcome.finalized_at)
        """
    static let ofTwoOutcomes = "SELECT DISTINCT id \(earlierOutcomes) ORDER BY id"

    /// Keeps the last outcome of each job, and the attempts of all.
    static func removeEarlierOutcomes(_ db: PostgreSQLTransaction) throws -> Int {
        try db.execute([
            .init(
                """
                INSERT INTO earlier_attempt(\(Schema.attemptColumns))
                SELECT \(Schema.finalAttempt) \(earlierOutcomes) AND number IS NOT NULL ON CONFLICT DO NOTHING
                """
            ),
            .init("DELETE \(earlierOutcomes)"),
        ])[1]
    }

    // MARK: - Sequences

    /// The sequences that would give a number again, as after a restore or a replication of the rows alone, with the numbers
    /// that they should have reached.
    static func lateSequences(_ db: PostgreSQLTransaction) throws -> [(name: String, reached: Int64)] {
        let owned = try db.query(
            """
            SELECT quote_ident(number.relname) AS name, format('SELECT max(%I) FROM %I', attname, owner.relname) AS need
            FROM pg_class AS number JOIN pg_depend ON pg_depend.classid = 'pg_class'::regclass
                AND pg_depend.objid = number.oid AND deptype IN ('a', 'i')
              JOIN pg_class AS owner ON owner.oid = refobjid
              JOIN pg_attribute ON attrelid = owner.oid AND attnum = refobjsubid
            WHERE number.relkind = 'S' AND number.relnamespace = current_schema()::regnamespace
            ORDER BY 1
            """
        )
        var needs = try owned.map { (name: try $0["name"] as String, need: try $0["need"] as String) }
        // A change up to `low` would never be numbered.
        needs.append((name: "new_change_entry_seq", need: "SELECT greatest(low, next_low) FROM feed"))
        let seen = "SELECT greatest((SELECT max(source_seen) FROM source), (SELECT max(source_seen) FROM thumbnail))"
        needs.append((name: "source_seen", need: seen))
        return try needs.compactMap { name, need in
            // Readers may not.
            guard try db.value("SELECT has_sequence_privilege($1, 'SELECT')", [name]) == true else { return nil }
            let late: Int64? = try db.value(
                "SELECT need FROM \(name), (\(need)) AS needed(need) WHERE need > last_value - (NOT is_called)::int"
            )
            return late.map { (name, $0) }
        }
    }

    static func advanceSequences(_ db: PostgreSQLTransaction) throws -> Int {
        let late = try lateSequences(db)
        for (name, reached) in late {
            try db.execute("SELECT setval($1::regclass, greatest($2, last_value)) FROM \(name)", [name, reached])
        }
        return late.count
    }

    /// Tasks in a lane that is not that of their queue, tenant and key.
    static let misplaced = """
        FROM task WHERE NOT EXISTS (
          SELECT 1 FROM lane WHERE lane.id = task.lane AND lane.queue = task.queue AND lane.key = task.key
            AND lane.tenant = task.tenant)
        """
    /// Lanes whose head is above the rank of their first job, with that rank.
    static let highHeads = """
        SELECT lane.id, lane.head, first.id AS job, first.rank FROM lane CROSS JOIN LATERAL (
          SELECT task.id, task.rank FROM task WHERE task.lane = lane.id AND task.\(TaskRow.isReady)
          ORDER BY task.rank LIMIT 1) AS first
        WHERE (lane.key <> 0 OR lane.tenant <> 0) AND (lane.head IS NULL OR lane.head > first.rank)
          OR lane.used IS NULL AND EXISTS (SELECT 1 FROM queue WHERE queue.id = lane.queue AND queue.fair)
        """
    /// Waiting jobs that no claim would find.
    static let hidden = "SELECT id \(misplaced) UNION SELECT job FROM (\(highHeads)) AS high ORDER BY 1"

    // MARK: - Counts

    /// Appends what the counters lack, in a transaction that changes nothing else. Each statement sees every other
    /// transaction as a whole or not at all.
    ///
    /// - Returns: the number of counters corrected.
    static func recount(_ db: PostgreSQLTransaction) throws -> Int {
        let wrong = try db.wrongCounts().count + db.query(db.wrongTotals).count
        guard wrong > 0 else { return 0 }
        let differences =
            JobState.allCases.map(\.rawValue).map { "actual.\($0) - queue_total.\($0)" }
            + JobState.ends.map { "greatest(0, actual.\($0.rawValue) - queue_total.ever_\($0.rawValue))" }
        try db.execute([
            .init("INSERT INTO queue_count(queue) SELECT id FROM queue ON CONFLICT DO NOTHING"),
            .init(
                """
                INSERT INTO queue_delta(queue, \(Ledger.Counts.columns.list))
                SELECT actual.queue, \(differences.list)
                FROM (\(db.actualJobs)) AS actual JOIN queue_total ON queue_total.queue = actual.queue
                """
            ),
            .init("INSERT INTO total_delta SELECT name, actual - counted FROM (\(db.wrongTotals)) AS wrong"),
        ])
        return wrong
    }
}
