internal import CameoModel
internal import CameoQueue
internal import CameoStore

/// A check of the tables: definitions, guests, counts and references.
extension SQLiteStore {
    /// The prefix reserved for other programs: no version of Cameo gives a table, index, trigger or view such a name.
    private static let guestPrefix = "app_"

    static func ownTables(_ db: SQLiteTransaction) throws -> CheckFinding {
        let found = try Schema.definitions(in: db.connection)
        let problems = try Schema.ownDefinitions().sorted { $0.key < $1.key }.compactMap { name, definition in
            guard let other = found[name] else { return "\(name) is missing" }
            return other == definition ? nil : "\(name) is not defined as by Cameo"
        }
        return CheckFinding(
            "schema",
            problems,
            ok: "all tables, indexes, triggers and views of version \(Schema.currentVersion) are there",
            advice: "Another program, or a fault of the disk, changed the schema. Restore a backup"
        )
    }

    /// Rows of Cameo's tables that refer to missing rows. Other programs' tables are not checked.
    static func danglingRows(_ db: SQLiteTransaction) throws -> [(table: String, parent: String)] {
        let own = try Schema.ownNames()
        let tables: [String] = try db.column("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        return try tables.filter(own.contains).flatMap { table in
            try db.column("SELECT parent FROM pragma_foreign_key_check(?1)", [table]).map { (table: table, parent: $0) }
        }
    }

    /// Checks that other programs' tables do not interfere. Their triggers on Cameo's tables would run inside Cameo's
    /// transactions, and their foreign keys would prevent the removal of jobs.
    static func guests(_ db: SQLiteTransaction) throws -> CheckFinding {
        // SQLite's names are case-insensitive but stored as spelled.
        let own = Set(try Schema.ownNames().map { $0.lowercased() })
        let look =
            "SELECT type, name, tbl_name AS \"table\" FROM sqlite_schema WHERE \(Schema.namedByPrograms) ORDER BY name"
        let guests = try db.query(look)
            .map { row in try (type: row["type"] as String, name: row["name"] as String, table: row["table"] as String)
            }
            .filter { !own.contains($0.name.lowercased()) }
        var problems: [String] = []
        for guest in guests {
            let name = "the \(guest.type) \(guest.name) of another program"
            if own.contains(guest.table.lowercased()) { problems.append("\(name) is on Cameo's table \(guest.table)") }
            if !guest.name.lowercased().hasPrefix(guestPrefix) {
                problems.append("\(name) has a name that a later version of Cameo may need")
            }
            guard guest.type == "table" else { continue }
            let targets: [String] = try db.column(
                "SELECT DISTINCT \"table\" FROM pragma_foreign_key_list(?1) ORDER BY 1",
                [guest.name]
            )
            for target in targets where own.contains(target.lowercased()) {
                problems.append("\(name) has a foreign key to Cameo's table \(target)")
            }
        }
        let tables = guests.filter { $0.type == "table" }.map(\.name)
        return CheckFinding(
            "guests",
            problems,
            ok: tables.isEmpty
                ? "no other program keeps tables here"
                : "other programs keep tables here: \(tables.joined(separator: ", "))",
            advice:
                "Begin such names with \(guestPrefix), and keep foreign keys, triggers and indexes on your own tables",
            severity: .warning
        )
    }

    // Checks the invariants that claims and settlements maintain for jobs and limits.

    static func limits(_ db: SQLiteTransaction) throws -> CheckFinding {
        let counts = try db.query(Counters.wrongKeys)
        let lanes: [String] = try db.column(Counters.wrongLanes)
        let heads: [String] = try db.column(Counters.highHeads)
        return CheckFinding(
            "limits",
            try counts.map { row in
                try "the concurrency key \(row["key"] as String) counts \(row["running"] as Int) running jobs and has "
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
            try db.column(unreadableRequests).map { (id: Int64) in "the request of job \(id) cannot be read" },
            ok: "every unfinished job has a request that can be read",
            advice: "\(repairCommand) discards such jobs, as does the next claim"
        )
    }

    /// Checks that every job is in the queue, in the history, or unaccepted.
    static func places(_ db: SQLiteTransaction) throws -> CheckFinding {
        let ids: [Int64] = try db.column(
            """
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

/// Compares stored counters with the rows they count.
enum Counters {
    static let wrongKeys = """
        SELECT name AS key, running, actual FROM (
          SELECT name, running, (SELECT count(*) FROM task WHERE \(TaskRow.isRunning) AND key = key.id) AS actual FROM key)
        WHERE running <> actual
        """

    /// Selects lanes that are shut although their key has room, or open although it has none.
    static let wrongLanes = """
        SELECT key.name AS key FROM lane JOIN key ON key.id = lane.key
        WHERE shut <> (running >= max_running OR opens_at <> 0)
        """

    /// Selects heads above the rank of the first waiting job, which no claim would find. The next claim corrects a head
    /// that is too low.
    static let highHeads = """
        SELECT name AS queue FROM (
          SELECT queue.name AS name, queue.head AS queue_head, lane.head AS lane_head, shut, fair AND used IS NULL AS is_outside,
            (SELECT min(rank) FROM task WHERE lane = lane.id AND \(TaskRow.isReady)) AS first
          FROM lane JOIN queue ON queue.id = lane.queue)
        WHERE first IS NOT NULL AND (lane_head IS NULL OR lane_head > first OR is_outside
          OR shut = 0 AND (queue_head IS NULL OR queue_head > first))
        """

    /// Selects numberings that have come near the end of 64 bits, which only another program can have done: the insert
    /// after the last number fails as if the disk were full. Numbers that JSON's readers know exactly end at 2^53.
    static let exhaustedNumbers = """
        SELECT name, number AS counted, CASE name WHEN 'upload' THEN (SELECT coalesce(max(id), 0) FROM upload)
            ELSE max((SELECT coalesce(max(id), 0) FROM job), (SELECT coalesce(max(job_id), 0) FROM change)) END AS actual
        FROM (SELECT name, seq AS number FROM sqlite_sequence WHERE name IN ('job', 'upload')
          UNION ALL SELECT name, value FROM sequence WHERE name = 'accepted')
        WHERE number > \(1 << 53)
        """

    /// Recomputes all counters, lanes, heads and numberings.
    ///
    /// - Returns: the number of wrong values.
    static func rebuild(_ db: SQLiteTransaction) throws -> Int {
        let queries = [db.wrongTotals, wrongKeys, wrongLanes, highHeads, exhaustedNumbers]
        let wrong = try queries.reduce(try db.wrongCounts().count) { sum, query in
            sum + (try db.value("SELECT count(*) FROM (\(query))") ?? 0)
        }
        guard wrong > 0 else { return 0 }
        let ends = JobState.ends.map { "ever_\($0.rawValue) = max(ever_\($0.rawValue), \($0.rawValue))" }
            .joined(separator: ", ")
        try db.connection.execute(
            script: """
                INSERT OR IGNORE INTO queue_count(queue) SELECT id FROM queue;
                \(db.correctionOfCounts);
                UPDATE queue_count SET \(ends);
                UPDATE total SET value = (SELECT actual FROM (\(db.actualTotals)) WHERE name = total.name)
                  WHERE name IN (SELECT name FROM (\(db.actualTotals)));
                UPDATE key SET running = (SELECT count(*) FROM task WHERE \(TaskRow.isRunning) AND key = key.id);
                UPDATE lane SET shut = coalesce(
                    (SELECT running >= max_running OR opens_at <> 0 FROM key WHERE key.id = lane.key), 0),
                  head = (SELECT min(rank) FROM task WHERE lane = lane.id AND \(TaskRow.isReady));
                \(Share.entering);
                UPDATE queue SET head = (SELECT min(head) FROM lane WHERE queue = queue.id AND shut = 0),
                  full = coalesce((SELECT running FROM queue_count WHERE queue = queue.id) >= max_running, 0);
                CREATE TEMP TABLE numbers AS \(exhaustedNumbers);
                UPDATE sequence SET value = numbers.actual FROM numbers WHERE numbers.name = sequence.name;
                UPDATE sqlite_sequence SET seq = numbers.actual FROM numbers WHERE numbers.name = sqlite_sequence.name;
                DROP TABLE numbers;
                """
        )
        return wrong
    }
}
