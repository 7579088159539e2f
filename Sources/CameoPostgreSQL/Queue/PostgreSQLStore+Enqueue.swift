package import CameoModel
package import CameoQueue
package import CameoStore

// DESIGN. Requests are entered together: one statement finds the jobs that wait for the same thumbnails, and one of each
// table inserts the new ones. A request whose key another process enters at the same moment loses in the index, and joins
// the other's job: an id was issued in vain. Advisory locks by key would save that, and let strangers stop everybody.
extension PostgreSQLTransaction {
    package func enter(_ new: [CheckedRequest], _ made: MadeThumbnails) throws -> [EnqueueReceipt] {
        var run = try EnqueueRun(self, for: new)
        for (index, draft) in new.enumerated() {
            try run.enter(draft, at: index, answer: try made.answer(to: draft, at: index, self))
        }
        return try run.finish()
    }

    fileprivate func newIDs(_ count: Int) throws -> [Int64] {
        guard count > 0 else { return [] }
        // By its name, which is looked up once: pg_get_serial_sequence would look for it per row.
        return try column("SELECT nextval('job_id_seq') FROM generate_series(1, $1::integer)", [count])
    }

    fileprivate func insertJobs(_ jobs: [(id: Int64, request: String)]) throws {
        guard !jobs.isEmpty else { return }
        try execute(
            """
            INSERT INTO job(id, request, created_at) OVERRIDING SYSTEM VALUE
            SELECT id, request::json, $3 FROM unnest($1::bigint[], $2::text[]) AS new(id, request)
            """,
            [SQLArray(jobs.map(\.id)), SQLArray(jobs.map(\.request)), now]
        )
    }

    package func insertJob(_ request: String) throws -> Int64 {
        guard let id = try newIDs(1).first else { throw StoreError.failed("no id") }
        try insertJobs([(id, request)])
        // It has no task, and ends at once.
        try execute("DELETE FROM arrival WHERE id = $1", [id])
        return id
    }
}

private struct EnqueueRun {
    private let db: PostgreSQLTransaction
    /// The waiting jobs by unique key.
    private var waiting: [String: TaskRow] = [:]
    private var pending: [(index: Int, new: CheckedRequest)] = []
    private var pendingKeys: Set<String> = []
    private var receipts: [Int: EnqueueReceipt] = [:]

    init(_ db: PostgreSQLTransaction, for new: [CheckedRequest]) throws {
        self.db = db
        let keys = Set(new.map(\.key.text)).sorted()
        let look = "WHERE unique_key = ANY($1::text[]) AND \(TaskRow.isWaiting) ORDER BY id"
        let tasks = try db.tasks(look, [SQLArray(keys)])
        for task in tasks { if let key = task.uniqueKey { waiting[key] = task } }
    }

    mutating func enter(_ new: CheckedRequest, at index: Int, answer thumbnails: [Thumbnail]?) throws {
        if let thumbnails {
            receipts[index] = try db.answer(new, by: thumbnails)
            return
        }
        if pendingKeys.contains(new.key.text) { try insertPending() }
        if let duplicate = waiting[new.key.text] {
            receipts[index] = try join(new, duplicate)
            return
        }
        if new.needsJob, let running = try db.runningJob(for: new.key.text) {
            receipts[index] = try db.receipt(.joined, new, running)
            return
        }
        pending.append((index, new))
        pendingKeys.insert(new.key.text)
    }

    mutating func finish() throws -> [EnqueueReceipt] {
        try insertPending()
        return receipts.sorted { $0.key < $1.key }.map(\.value)
    }

    private mutating func join(_ new: CheckedRequest, _ duplicate: TaskRow) throws -> EnqueueReceipt {
        let joined = try db.join(new, duplicate)
        waiting[new.key.text] = joined
        return try db.receipt(.joined, new, joined)
    }

    private mutating func insertPending() throws {
        let drafts = pending
        (pending, pendingKeys) = ([], [])
        try db.findNames(of: drafts.map(\.new.job))
        let ids = try db.newIDs(drafts.count)
        let entries = try zip(ids, drafts).map { id, draft in
            try db.newTask(draft.new.job, as: id, createdAt: db.now)
        }
        let inserted = try db.insert(entries)
        let won = zip(entries, drafts).filter { inserted.contains($0.0.task.id) }
        try db.insertJobs(won.map { ($0.0.task.id, $0.1.new.text) })
        try db.record(won.map(\.0))
        for (entry, draft) in zip(entries, drafts) {
            if inserted.contains(entry.task.id) {
                waiting[draft.new.key.text] = entry.task
                receipts[draft.index] = try db.receipt(.accepted, draft.new, entry.task)
            } else if let duplicate = try db.waitingJob(for: draft.new.key.text) {
                receipts[draft.index] = try join(draft.new, duplicate)
            } else {
                // It was claimed meanwhile: once more.
                try enter(draft.new, at: draft.index, answer: nil)
            }
        }
        if !pending.isEmpty { try insertPending() }
    }
}
