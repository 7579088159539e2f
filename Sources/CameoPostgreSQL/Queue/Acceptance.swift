internal import CameoModel
package import CameoQueue
package import CameoStore

// DESIGN. A row inserted into `job` by SQL is only a request; a trigger notes it in `arrival`. The next Cameo process
// accepts it: the row either gets a task or ends at once as `request.invalid`. A page of rows is read and parsed without a
// lock. The transaction that accepts them takes their rows of `arrival`, except those that another process is accepting,
// and writes all of them together. If the tables refuse one of them, each gets a savepoint, so that none stops another.

extension PostgreSQLStore {
    package func acceptPage() async throws(StoreError) -> Bool {
        let page = try await read { db in try Arrival.page(db) }
        guard !page.isEmpty else {
            try await endForgottenJobs()
            try await settleAttachments()
            try await tendAttachments()
            return false
        }
        let acceptances = acceptances
        let accepted = try await commit { db in try acceptances.measuring(page.count) { try db.accept(page) } }
        acceptances.note(accepted.refused)
        if accepted.isUnmirrored { try await mirrorAccepted() }
        // Otherwise the rest is another process's.
        return accepted.count > 0
    }
}

extension PostgreSQLTransaction {
    /// - Returns: the number of rows that were dealt with, the jobs that were refused, and whether rows of programs wait for those
    ///   that were accepted.
    func accept(_ page: [Arrival]) throws -> (count: Int, refused: [LostJob], isUnmirrored: Bool) {
        guard !page.isEmpty else { return (0, [], false) }
        let taken = try query(
            """
            WITH mine AS (SELECT id FROM arrival WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE SKIP LOCKED)
            DELETE FROM arrival USING mine WHERE arrival.id = mine.id RETURNING arrival.id AS id, \(Self.isAccepted) AS is_accepted
            """,
            [SQLArray(page.map(\.id))]
        )
        let mine = Set(try taken.filter { try !$0["is_accepted"] }.map { try $0["id"] as Int64 })
        var refused: [LostJob] = []
        let rows = page.filter { mine.contains($0.id) }
        // None of these may join a job that ends by what was forgotten.
        if try isForgetting() { try endForgottenJobs(goesOn: true) }
        do {
            try flush()
            try inSavepoint { try accept(together: rows) }
            for row in rows {
                if case .failure(let error) = row.reading { refused.append(try refuse(row.id, error)) }
            }
        } catch  where error is InvalidRequest || objection(error) != nil {
            refused = try rows.compactMap { row in try accept(row) { _ in try accept(together: [row]) } }
        }
        try flush()
        if let first = mine.min(), try isForgetting() { try endForgottenJobs(acceptedFrom: first) }
        return (taken.count, refused, try hasUnmirrored)
    }

    /// Whether an arrival is in the queue or has ended. A restore enters jobs as if they were new.
    private static let isAccepted = """
        EXISTS (SELECT 1 FROM task WHERE task.id = arrival.id) OR EXISTS (SELECT 1 FROM outcome WHERE outcome.id = arrival.id)
        """

    package func objection(_ error: any Error) -> String? {
        (error as? DatabaseError).flatMap { $0.concernsOneRow ? $0.message : nil }
    }

    private func accept(together rows: [Arrival]) throws {
        try findNames(of: rows.compactMap { try? $0.reading.get() })
        let entries = try rows.compactMap { row -> NewTask? in
            guard case .success(let new) = row.reading else { return nil }
            return try newTask(new, as: row.id, createdAt: row.createdAt)
        }
        let waiting = try insert(entries)
        try record(entries)
        // Those whose thumbnails another job is waiting for.
        for entry in entries where !waiting.contains(entry.task.id) { try letWait(entry.task, from: nil) }
        // The ledger is part of the savepoint.
        try flush()
    }

    /// Inserts tasks, except those for whose unique key another job is waiting, in the table or before in the list.
    ///
    /// - Returns: the ids of those that were inserted.
    func insert(_ entries: [NewTask]) throws -> Set<Int64> {
        guard !entries.isEmpty else { return [] }
        // In the same order in every transaction: each waits for those who enter the same key.
        let tasks = entries.map(\.task).sorted { ($0.uniqueKey ?? "", $0.id) < ($1.uniqueKey ?? "", $1.id) }
        let ids: [Int64] = try column(Self.insertionOfTasks, RowLists.values(tasks.map(\.entered)))
        let inserted = Set(ids)
        for task in tasks where inserted.contains(task.id) { move(task, from: nil, to: task.state) }
        return inserted
    }

    private static let insertionOfTasks = """
        \(TaskRow.entry)
        SELECT new.*, \(PostgreSQLDialect.fetchAfter("new.id", dialect.lastFetch)) FROM \(RowLists.source(TaskRow.enteredFields))
        ON CONFLICT (unique_key) WHERE \(TaskRow.isWaiting) DO NOTHING RETURNING id
        """

    package func record(_ entries: [NewTask]) throws {
        guard !entries.isEmpty else { return }
        let tasks = entries.map(\.task)
        try execute(
            """
            INSERT INTO accepted(id, queue, key, tenant, unique_key, thumbnails)
            SELECT id, queue, key, tenant, unique_key, thumbnails::json
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])
              AS new(id, queue, key, tenant, unique_key, thumbnails)
            """,
            [
                SQLArray(tasks.map(\.id)), SQLArray(tasks.map(\.queue)), SQLArray(tasks.map(\.key)),
                SQLArray(tasks.map(\.tenant)), SQLArray(tasks.map(\.uniqueKey)),
                SQLArray(entries.map(\.new.thumbnails)),
            ]
        )
        let promised = entries.flatMap { entry in entry.new.wanted.map { (job: entry.task.id, thumbnail: $0.id.text) } }
        if !promised.isEmpty {
            try label(entries.map { ($0.new.request, $0.new.wanted.map(\.id)) })
            try execute(
                """
                INSERT INTO promise(job_id, thumbnail) SELECT * FROM unnest($1::bigint[], $2::text[])
                ON CONFLICT DO NOTHING
                """,
                [SQLArray(promised.map(\.job)), SQLArray(promised.map(\.thumbnail))]
            )
        }
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
            try note(hook: entry.new.request.hook, ofQueue: entry.task.queue, for: entry.task.id)
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

    package func holdNames() throws {
        guard !unwritten.holdsNames else { return }
        // By its whole name, because Pgpool-II tells standbys too, which do not know the transaction's search path.
        try execute("LOCK TABLE \"\(opening.schema)\".maintenance IN ROW SHARE MODE")
        unwritten.holdsNames = true
    }

    /// Finds or creates the names of requests, in the same order in every transaction: each locks those that it creates
    /// until its end.
    func findNames(of new: [NewJob]) throws {
        let requests = new.map(\.request)
        for name in Set(requests.map(\.queue)).sorted() { _ = try queue(name) }
        let keyed = requests.enumerated().compactMap { place, request in
            request.concurrencyKey.map { (name: $0, place: place, limit: request.concurrencyLimit) }
        }
        // The latest limit of a key counts.
        for key in keyed.sorted(by: { ($0.name, $0.place) < ($1.name, $1.place) }) {
            _ = try self.key(key.name, limit: key.limit)
        }
        try findTenants(Set(requests.compactMap { ($0.tenant ?? $0.concurrencyKey).map(ExactText.init) }))
        let places = try requests.map { request in
            Ledger.Place(
                queue: try queue(request.queue),
                key: try request.concurrencyKey.map { try key($0, limit: request.concurrencyLimit) } ?? 0,
                tenant: try tenant(of: request)
            )
        }
        try findLanes(Set(places))
    }

    /// Looks up many tenants by one statement each time, and creates those that are new.
    private func findTenants(_ names: Set<ExactText>) throws {
        for isLast in [false, true] {
            let unknown = names.filter { ledger.tenantIDs[$0] == nil }.map(\.text).sorted()
            guard unknown.count > 1 else { return }
            try holdNames()
            for row in try query("SELECT id, name FROM tenant WHERE name = ANY($1::text[])", [SQLArray(unknown)]) {
                ledger.tenantIDs[ExactText(try row["name"])] = try row["id"]
            }
            let new = unknown.filter { ledger.tenantIDs[ExactText($0)] == nil }
            guard !isLast, !new.isEmpty else { return }
            let creation = "INSERT INTO tenant(name) SELECT * FROM unnest($1::text[]) ON CONFLICT (name) DO NOTHING"
            try execute(creation, [SQLArray(new)])
        }
    }

    /// The same of lanes.
    private func findLanes(_ places: Set<Ledger.Place>) throws {
        func lists(_ places: [Ledger.Place]) -> [(any SQLBindable)?] {
            [SQLArray(places.map(\.queue)), SQLArray(places.map(\.tenant)), SQLArray(places.map(\.key))]
        }
        let wanted = "unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS wanted(queue, tenant, key)"
        for isLast in [false, true] {
            let unknown = places.filter { ledger.laneIDs[$0] == nil }
                .sorted { ($0.queue, $0.tenant, $0.key) < ($1.queue, $1.tenant, $1.key) }
            guard unknown.count > 1 else {
                for place in unknown { _ = try lane(place) }
                return
            }
            try holdNames()
            let look = """
                SELECT lane.id, lane.queue, lane.tenant, lane.key FROM \(wanted) CROSS JOIN LATERAL (
                  SELECT * FROM lane
                  WHERE lane.queue = wanted.queue AND lane.tenant = wanted.tenant AND lane.key = wanted.key LIMIT 1) AS lane
                """
            for row in try query(look, lists(unknown)) {
                let place = try Ledger.Place(queue: row["queue"], key: row["key"], tenant: row["tenant"])
                ledger.laneIDs[place] = try row["id"]
            }
            let new = unknown.filter { ledger.laneIDs[$0] == nil }
            guard !isLast, !new.isEmpty else { return }
            try execute(
                """
                INSERT INTO lane(queue, tenant, key, used)
                SELECT wanted.queue, wanted.tenant, wanted.key,
                  \(Share.ofNewLane(queue: "wanted.queue", tenant: "wanted.tenant"))
                FROM \(wanted) ON CONFLICT DO NOTHING
                """,
                lists(new)
            )
        }
    }
}

extension Arrival {
    /// Reads and parses the first ones, in the order of their ids.
    static func page(_ db: PostgreSQLTransaction, atMost limit: Int = page.rows) throws -> [Arrival] {
        let rows = try db.query(
            """
            SELECT id, created_at, request FROM (
              SELECT id, created_at, request, coalesce(sum(octet_length(request::text)) OVER (
                ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
              FROM (SELECT id FROM arrival ORDER BY id LIMIT $1) AS first JOIN job USING (id)) AS page
            WHERE bytes_before < $2 ORDER BY id
            """,
            [limit, page.bytes]
        )
        return try rows.map {
            try Arrival(id: $0["id"], createdAt: $0["created_at"], request: ($0["request"] as String).utf8)
        }
    }
}
