internal import CameoModel
internal import CameoStore

extension Database {
    /// Writes what was recorded, except what only the end of the transaction writes: the change feed and counts.
    func flush() throws { try execute(takeUnwritten()) }

    /// The statements of a flush, after which they count as run.
    func takeUnwritten() -> [Connection.Statement] {
        let statements = [deletion, history, attempts, heads].compactMap { $0 }
        (ledger.ended, ledger.outcomes, ledger.attempts, ledger.heads) = ([], [], [], [:])
        return statements
    }

    /// The statements that come before COMMIT, after a flush.
    func closing() -> [Connection.Statement] {
        var statements = counts + failures
        if ledger.concernsWaiters, ledger.changes.isEmpty {
            statements.append(.init("UPDATE sequence SET value = value + 1 WHERE name = 'version'"))
        }
        if !ledger.changes.isEmpty {
            statements.append(
                .init(
                    "INSERT INTO new_change(jobs, states, at) VALUES ($1, $2, $3)",
                    [SQLArray(ledger.changes.map(\.job)), SQLArray(ledger.changes.map(\.state.code)), now],
                    prepared: true
                )
            )
        }
        if ledger.wakesWorkers {
            statements.append(.init("SELECT pg_notify('\(Listener.channel(schema: schema))', '')", prepared: true))
        }
        return statements
    }

    private var deletion: Connection.Statement? {
        guard !ledger.ended.isEmpty else { return nil }
        return .init("DELETE FROM task WHERE id = ANY($1::bigint[])", [SQLArray(ledger.ended)], prepared: true)
    }

    private var history: Connection.Statement? {
        let outcomes = ledger.outcomes
        guard !outcomes.isEmpty else { return nil }
        return .init(
            """
            INSERT INTO outcome(id, state, queue, priority, available_at, attempt, max_attempts, crash_count,
              attempted_at, finalized_at, failure, code, superseded_by)
            SELECT id, state, queue, priority, due, attempt, max_attempts, crash_count, attempted_at, $13, failure::json,
              code, superseded_by
            FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::int[], $5::bigint[], $6::int[], $7::int[],
              $8::int[], $9::bigint[], $10::text[], $11::text[], $12::bigint[])
              AS ended(id, state, queue, priority, due, attempt, max_attempts, crash_count, attempted_at, failure, code,
                superseded_by)
            """,
            [
                SQLArray(outcomes.map(\.task.id)), SQLArray(outcomes.map(\.state.code)),
                SQLArray(outcomes.map(\.task.queue)), SQLArray(outcomes.map(\.task.priority)),
                SQLArray(outcomes.map(\.task.due)), SQLArray(outcomes.map(\.task.attempt)),
                SQLArray(outcomes.map(\.task.maxAttempts)), SQLArray(outcomes.map(\.task.crashCount)),
                SQLArray(outcomes.map(\.task.attemptedAt)), SQLArray(outcomes.map(\.failure)),
                SQLArray(outcomes.map(\.code)), SQLArray(outcomes.map(\.supersededBy)), now,
            ],
            prepared: true
        )
    }

    private var attempts: Connection.Statement? {
        let attempts = ledger.attempts
        guard !attempts.isEmpty else { return nil }
        func times(_ time: (AttemptTimings) -> Int?) -> SQLArray { SQLArray(attempts.map { time($0.timings) }) }
        return .init(
            """
            INSERT INTO attempt(job_id, number, worker, started_at, finished_at, outcome, failure, wait_ms, fetch_ms,
              queue_ms, render_ms, store_ms, source_bytes, output_bytes)
            SELECT job, number, worker, started, $14, outcome, failure::json, wait_ms, fetch_ms, queue_ms, render_ms,
              store_ms, source_bytes, output_bytes
            FROM unnest($1::bigint[], $2::int[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::bigint[],
              $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[])
              AS ended(job, number, worker, started, outcome, failure, wait_ms, fetch_ms, queue_ms, render_ms, store_ms,
                source_bytes, output_bytes)
            """,
            [
                SQLArray(attempts.map(\.task.id)), SQLArray(attempts.map(\.task.tries)),
                SQLArray(attempts.map(\.task.worker)), SQLArray(attempts.map(\.task.attemptedAt)),
                SQLArray(attempts.map(\.outcome.rawValue)), SQLArray(attempts.map(\.failure)),
                times(\.waitMilliseconds), times(\.fetchMilliseconds), times(\.queueMilliseconds),
                times(\.renderMilliseconds), times(\.storeMilliseconds), times(\.sourceBytes), times(\.outputBytes),
                now,
            ],
            prepared: true
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
            UPDATE lane SET head = least(head, raised.rank) FROM raised WHERE lane.id = raised.id
            """,
            [SQLArray(heads.map(\.key)), SQLArray(heads.map(\.value))]
        )
    }

    private var counts: [Connection.Statement] {
        let queues = ledger.queues.filter { $0.value.changes.contains { $0 != 0 } }
        guard !queues.isEmpty else { return [] }
        // One text for every transaction, so that it is prepared.
        let columns = queues.map { queue, counts in [Int(queue)] + counts.changes + counts.ends }
        let lists = (0..<11).map { column in "$\(column + 1)::bigint[]" }.joined(separator: ", ")
        return [
            .init(
                "INSERT INTO queue_delta SELECT * FROM unnest(\(lists))",
                (0..<11).map { column in SQLArray(columns.map { $0[column] }) },
                prepared: true
            )
        ]
    }

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
