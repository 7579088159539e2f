internal import CameoModel
package import CameoQueue
internal import CameoStore

extension PostgreSQLTransaction {
    /// Inserts tasks, except those for whose unique key another job is waiting, in the table or before in the list.
    ///
    /// - Returns: the ids of those that were inserted.
    func insert(_ entries: [NewTask]) throws -> Set<Int64> {
        guard !entries.isEmpty else { return [] }
        // In the same order in every transaction: each waits for those who enter the same key.
        let tasks = entries.map(\.task).sorted { ($0.uniqueKey ?? "", $0.id) < ($1.uniqueKey ?? "", $1.id) }
        let ids: [Int64] = try column(
            """
            INSERT INTO task(id, queue, key, lane, state, priority, due, rank, max_attempts, refresh, unique_key, upload,
              hooked, fetch_after)
            SELECT new.*, \(dialect.lastFetch) FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[], $6::int[],
              $7::bigint[], $8::bigint[], $9::int[], $10::smallint[], $11::text[], $12::bigint[], $13::boolean[]) AS new
            ON CONFLICT (unique_key) WHERE state <> 2 DO NOTHING RETURNING id
            """,
            [
                SQLArray(tasks.map(\.id)), SQLArray(tasks.map(\.queue)), SQLArray(tasks.map(\.key)),
                SQLArray(tasks.map(\.lane)), SQLArray(tasks.map(\.state.code)), SQLArray(tasks.map(\.priority)),
                SQLArray(tasks.map(\.due)), SQLArray(tasks.map(\.rank)), SQLArray(tasks.map(\.maxAttempts)),
                SQLArray(tasks.map(\.refresh.code)), SQLArray(tasks.map(\.uniqueKey)), SQLArray(tasks.map(\.upload)),
                SQLArray(tasks.map(\.isHooked)),
            ]
        )
        let inserted = Set(ids)
        for task in tasks where inserted.contains(task.id) { move(task, from: nil, to: task.state) }
        return inserted
    }

    package func record(_ entries: [NewTask]) throws {
        guard !entries.isEmpty else { return }
        let tasks = entries.map(\.task)
        try execute(
            """
            INSERT INTO accepted(id, queue, key, unique_key, thumbnails)
            SELECT id, queue, key, unique_key, thumbnails::json
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[])
              AS new(id, queue, key, unique_key, thumbnails)
            """,
            [
                SQLArray(tasks.map(\.id)), SQLArray(tasks.map(\.queue)), SQLArray(tasks.map(\.key)),
                SQLArray(tasks.map(\.uniqueKey)), SQLArray(entries.map(\.new.thumbnails)),
            ]
        )
        let needed = entries.flatMap { entry in entry.new.ingredients.map { (name: $0, job: entry.task.id) } }
        if !needed.isEmpty {
            try execute(
                """
                INSERT INTO ingredient(name, job_id) SELECT * FROM unnest($1::text[], $2::bigint[])
                ON CONFLICT DO NOTHING
                """,
                [SQLArray(needed.map(\.name)), SQLArray(needed.map(\.job))]
            )
        }
        for entry in entries where entry.task.isHooked {
            try JobHooks.note(entry.new.request.hook, ofQueue: entry.task.queue, for: entry.task.id, self)
        }
        let named = entries.compactMap { entry in
            entry.new.request.batch.map { (batch: ExactText($0), job: entry.task.id) }
        }
        for (name, members) in Dictionary(grouping: named, by: \.batch).sorted(by: { $0.key.text < $1.key.text }) {
            try execute(
                """
                INSERT INTO batch_job(batch, job_id) SELECT $1, id FROM unnest($2::bigint[]) AS new(id)
                ON CONFLICT DO NOTHING
                """,
                [try batch(name.text), SQLArray(members.map(\.job))]
            )
        }
    }
}
