internal import CameoModel
package import CameoQueue
package import CameoStore

// DESIGN. The ledger and the history of what ended are written for a whole group of operations: a hundred settlements cost
// few statements, and the rows that many transactions share are locked for the one round trip that ends with COMMIT. Only
// the history of jobs that were completed beforehand is there already.
//
// The order of locks is that of the statements: tasks, blobs, orphans, thumbnails, lanes, counters, the
// version; each kind by number or name. Settlements are the first of their group, so what they store is written at once;
// uses of thumbnails come last and wait for nobody.

/// What a transaction has changed beside its ledger and not written yet.
struct Unwritten {
    /// The tasks of the group's held claims that are still valid, by token.
    var claimed: [String: TaskRow] = [:]
    /// The tokens of claims whose jobs were completed beforehand.
    var completed: Set<String> = []
    /// Held claims whose jobs are still to be completed.
    var completions: [(claim: Claim, timings: AttemptTimings)] = []
    /// Running tasks that have ended in another way and are still to be deleted.
    var ended: [Int64] = []
    var outcomes: [OutcomeRow] = []
    var attempts: [AttemptRow] = []
    /// What stores blobs, by digest, and thumbnails, by id, with the blobs that these name.
    var blobs: [String: Connection.Statement] = [:]
    var thumbnails: [String: [Connection.Statement]] = [:]
    var named: [(thumbnail: String, blob: String)] = []
    /// Thumbnails that were used.
    var used: Set<String> = []
    /// Whether workers may have something new to claim.
    var wakesWorkers = false
    /// Whether others may wait for what changes, even if no job does.
    var concernsWaiters = false

    /// Queues with a limit whose claims are settled.
    var limitedQueues: Set<Int64> = []
    /// Whether names that were looked up are held.
    var holdsNames = false
}

extension PostgreSQLTransaction {
    package func wakeWorkers() { unwritten.wakesWorkers = true }

    package func isLimited(queue: Int64) -> Bool { unwritten.limitedQueues.contains(queue) }

    package func flushHistory() throws { try flush(lanes: false) }

    // MARK: - Claims

    /// The statement that locks and looks up the tasks of claims, in the order of their ids; none if there are no claims.
    /// Only a running job has a token.
    static func locking(_ claims: [Claim]) -> [Connection.Statement] {
        guard !claims.isEmpty else { return [] }
        let sorted = claims.sorted { $0.jobID < $1.jobID }
        return [
            .init(
                """
                SELECT \(TaskRow.columns), (SELECT max_running IS NOT NULL FROM queue WHERE queue.id = task.queue)
                  AS is_limited
                FROM unnest($1::bigint[], $2::text[]) AS claim(id, token) CROSS JOIN LATERAL (
                  SELECT * FROM task WHERE task.id = claim.id AND task.token = claim.token FOR UPDATE) AS task
                """,
                [SQLArray(sorted.map(\.jobID)), SQLArray(sorted.map(\.token))],
                prepared: true
            )
        ]
    }

    /// The statement that locks the jobs that wait for unique keys, in the order of their ids; none if there are no keys.
    static func locking(waitingFor keys: [String]) -> [Connection.Statement] {
        guard !keys.isEmpty else { return [] }
        let waiting = "unique_key = ANY($1::text[]) AND \(TaskRow.isWaiting)"
        let look = "SELECT id FROM task WHERE \(waiting) ORDER BY id FOR UPDATE"
        return [.init(look, [SQLArray(keys)], prepared: true)]
    }

    /// Keeps what ``locking(_:)`` has found.
    func note(claimed tasks: QueryResult) throws {
        for row in tasks.rows {
            let task = try TaskRow(row)
            if let token = task.token { unwritten.claimed[token] = task }
            if try row["is_limited"] == true { unwritten.limitedQueues.insert(task.queue) }
        }
    }

    package func task(of claim: Claim) throws -> TaskRow {
        guard let task = unwritten.claimed[claim.token], task.id == claim.jobID else {
            throw StoreError.leaseLost(jobID: claim.jobID)
        }
        return task
    }

    package func loseClaim(of task: TaskRow) { if let token = task.token { unwritten.claimed[token] = nil } }

    /// Writes what was recorded, except what only the end of the transaction writes: the change feed and counts. Without
    /// `lanes`, it leaves to the end what locks lanes, too, before others of the group enter requests.
    func flush(lanes: Bool = true) throws { try execute(takeUnwritten(lanes: lanes)) }

    /// The statements of a flush, after which they count as run.
    func takeUnwritten(lanes: Bool = true) -> [Connection.Statement] {
        // It takes the attempts that ended jobs.
        let history = takeHistory()
        let statements =
            Self.completing(unwritten.completions, now: now) + [deletion].compactMap { $0 } + pictures
            + [history, earlierAttempts, costs, lanes ? heads : nil].compactMap { $0 }
        (unwritten.completions, unwritten.ended, unwritten.attempts, ledger.costs) = ([], [], [], [])
        if lanes { ledger.heads = [:] }
        (unwritten.blobs, unwritten.thumbnails, unwritten.named) = ([:], [:], [])
        return statements
    }

    /// The statements that come before COMMIT, after a flush.
    func closing() -> [Connection.Statement] {
        var statements = failures
        if !ledger.kept.isEmpty {
            statements.append(
                .init("DELETE FROM promise WHERE job_id = ANY($1::bigint[])", [SQLArray(ledger.kept)], prepared: true)
            )
        }
        if !ledger.broken.isEmpty {
            statements.append(
                .init(
                    """
                    UPDATE promise SET code = broken.code, until = $3
                    FROM unnest($1::bigint[], $2::text[]) AS broken(job, code) WHERE job_id = broken.job
                    """,
                    [SQLArray(ledger.broken.map(\.job)), SQLArray(ledger.broken.map(\.code)), now + Promise.age],
                    prepared: true
                )
            )
        }
        if unwritten.concernsWaiters, ledger.changes.isEmpty {
            statements.append(.init("UPDATE sequence SET value = value + 1 WHERE name = 'version'"))
        }
        if let entries { statements.append(entries) }
        if !unwritten.used.isEmpty { statements.append(uses) }
        if unwritten.wakesWorkers {
            let channel = Listener.channel(schema: opening.schema)
            statements.append(.init("SELECT pg_notify('\(channel)', '')", prepared: true))
        }
        return statements
    }

    /// What stores pictures: first their blobs, then themselves, each in one order. The trigger on changed thumbnails notes
    /// the blobs that they leave in another order, so they are noted before.
    private var pictures: [Connection.Statement] {
        let named = [SQLArray(unwritten.named.map(\.thumbnail)), SQLArray(unwritten.named.map(\.blob))]
        func orphans(_ blob: String, _ condition: String) -> [Connection.Statement] {
            unwritten.named.isEmpty
                ? []
                : [
                    .init(
                        """
                        INSERT INTO orphan SELECT DISTINCT \(blob), $3::bigint
                        FROM unnest($1::text[], $2::text[]) AS made(id, blob) LEFT JOIN LATERAL (
                          SELECT blob FROM thumbnail WHERE thumbnail.id = made.id LIMIT 1) AS thumbnail ON true
                        WHERE \(condition) ORDER BY 1
                        ON CONFLICT (digest) DO UPDATE SET since = excluded.since
                        """,
                        named + [now],
                        prepared: true
                    )
                ]
        }
        return unwritten.blobs.sorted { $0.key < $1.key }.map(\.value)
            + orphans("thumbnail.blob", "thumbnail.blob <> made.blob")
            + unwritten.thumbnails.sorted { $0.key < $1.key }.flatMap(\.value)
            // A newer fetch's thumbnail was kept.
            + orphans("made.blob", "thumbnail.blob IS DISTINCT FROM made.blob")
    }

    private var uses: Connection.Statement {
        // Who has one locked is making it anew or removing it.
        .init(
            """
            UPDATE thumbnail SET read_at = $1 WHERE id IN (
              SELECT id FROM thumbnail WHERE id = ANY($2::text[]) AND used_at <= $3 FOR UPDATE SKIP LOCKED)
            """,
            [now, SQLArray(unwritten.used), now - Int64(Retention.readingStep.milliseconds)]
        )
    }

    private var deletion: Connection.Statement? {
        guard !unwritten.ended.isEmpty else { return nil }
        return .init("DELETE FROM task WHERE id = ANY($1::bigint[])", [SQLArray(unwritten.ended)], prepared: true)
    }

    /// Takes the outcomes, each with the attempt that ended as its job did. The other attempts remain.
    private func takeHistory() -> Connection.Statement? {
        let outcomes = unwritten.outcomes
        guard !outcomes.isEmpty else { return nil }
        unwritten.outcomes = []
        let attempts = outcomes.map { outcome in
            unwritten.attempts.firstIndex {
                $0.task.id == outcome.task.id && $0.outcome.rawValue == outcome.end.state.rawValue
                    && $0.failure == outcome.end.failure
            }
            .map { unwritten.attempts.remove(at: $0) }
        }
        let none: [(any SQLBindable)?] = RecordKind.attempt.fields.map { _ in nil }
        let rows = zip(outcomes, attempts).map { $0.values + Self.ofOutcome($1?.values ?? none) }
        return .init(Self.insertionOfOutcomes, RowLists.values(rows), prepared: true)
    }

    private var earlierAttempts: Connection.Statement? {
        guard !unwritten.attempts.isEmpty else { return nil }
        return .init(Self.insertionOfAttempts, RowLists.values(unwritten.attempts.map(\.values)), prepared: true)
    }

    /// What an outcome has of the attempt that ended with it: its number, worker and timings.
    private static func ofOutcome<Element>(_ attempt: [Element]) -> [Element] {
        Array(attempt[1...2] + attempt[(attempt.count - AttemptTimings().values.count)...])
    }

    private static let insertionOfOutcomes = RowLists.insertion(
        of: RecordKind.outcome.fields + ofOutcome(RecordKind.attempt.fields),
        into: "outcome"
    )
    private static let insertionOfAttempts = RowLists.insertion(
        of: RecordKind.attempt.fields,
        into: "earlier_attempt"
    )

    /// What attempts have cost goes into a table of its own: their lanes' rows are many transactions'. A claim moves it there.
    private var costs: Connection.Statement? {
        guard !ledger.costs.isEmpty else { return nil }
        return .init(
            """
            INSERT INTO lane_cost(lane, cost, charged)
            SELECT * FROM unnest($1::bigint[], $2::double precision[], $3::double precision[])
            """,
            [
                SQLArray(ledger.costs.map(\.task.lane)), SQLArray(ledger.costs.map { Optional($0.cost) }),
                SQLArray(ledger.costs.map { Optional($0.charged) }),
            ]
        )
    }

    private var heads: Connection.Statement? {
        guard !ledger.heads.isEmpty else { return nil }
        let heads = ledger.heads.sorted { $0.key < $1.key }
        // Even a head that does not change is written: the lock keeps a claim from raising it before the commit.
        return .init(
            """
            WITH raised AS (
              SELECT lane.id, rank FROM unnest($1::bigint[], $2::bigint[]) AS new(lane, rank)
                JOIN lane ON lane.id = new.lane ORDER BY lane.id FOR UPDATE OF lane)
            UPDATE lane SET head = least(head, raised.rank), used = CASE WHEN head IS NULL AND used IS NOT NULL
                THEN \(Share.beginning(at: "$3::bigint")) ELSE used END
              FROM raised WHERE lane.id = raised.id
            """,
            [SQLArray(heads.map(\.key)), SQLArray(heads.map(\.value.rank)), now]
        )
    }

    /// Enters the changes of counts and those of jobs, by one statement, whose text is always the same, so that it is
    /// prepared.
    private var entries: Connection.Statement? {
        let columns = ledger.queues.filter { ($0.value.changes + $0.value.ends).contains { $0 != 0 } }
            .map { queue, counts in [Int(queue)] + counts.changes + counts.ends }
        let counts = (0...Ledger.Counts.columns.count).map { column in SQLArray(columns.map { $0[column] }) }
        guard !ledger.changes.isEmpty else {
            return columns.isEmpty ? nil : .init(Self.counting(after: 0), counts, prepared: true)
        }
        let changes = [SQLArray(ledger.changes.map(\.job)), SQLArray(ledger.changes.map(\.state.code))]
        return .init(Self.changing, changes + [now] + counts, prepared: true)
    }

    private static func counting(after place: Int) -> String {
        let lists = (0...Ledger.Counts.columns.count).map { "$\(place + $0 + 1)::bigint[]" }
        return "INSERT INTO queue_delta SELECT * FROM unnest(\(lists.list))"
    }

    private static let changing = """
        WITH counted AS (\(counting(after: 3))) INSERT INTO new_change(jobs, states, at) VALUES ($1, $2, $3)
        """

    private var failures: [Connection.Statement] {
        guard !ledger.counters.isEmpty else { return [] }
        // In the same order in every transaction, which locks the rows until its end.
        let entries = ledger.counters.entries.sorted { ($0.family.rawValue, $0.label) < ($1.family.rawValue, $1.label) }
        return [
            .init(
                """
                INSERT INTO counter(family, label, value)
                SELECT family, label, value
                FROM unnest($1::text[], $2::text[], $3::bigint[]) AS added(family, label, value)
                ON CONFLICT (family, label) DO UPDATE SET value = counter.value + excluded.value
                """,
                [
                    SQLArray(entries.map(\.family.rawValue)), SQLArray(entries.map(\.label)),
                    SQLArray(entries.map(\.value)),
                ]
            )
        ]
    }
}
