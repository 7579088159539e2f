internal import CameoModel
internal import CameoQueue
internal import CameoStore

/// The queue's row of an unfinished job.
struct TaskRow: Sendable {
    let id: Int64
    let queue: Int64
    let key: Int64
    let lane: Int64
    var state: JobState
    var priority: Int
    var due: Int64
    var attempt = 0
    var maxAttempts: Int
    var crashCount = 0
    var tries = 0
    var attemptedAt: Int64?
    var failed: Int?
    var refresh: Refresh
    var uniqueKey: String?
    var upload: Int64?
    /// Whether its end is to be delivered to hooks.
    var isHooked: Bool
    var token: String?
    var worker: String?
    /// The number of the last fetch that had begun when the job was requested, by itself or by a request that joined it.
    var fetchAfter: Int64 = 0

    var rank: Int64 { Rank.of(id, due: due, priority: priority) }

    /// The columns of ``init(_:from:)``, in its order.
    static let columns = [
        "id", "queue", "key", "lane", "state", "priority", "due", "attempt", "max_attempts", "crash_count", "tries",
        "attempted_at", "failed", "refresh", "unique_key", "upload", "token", "worker", "hooked", "fetch_after",
    ]
    .map { "task.\($0)" }.joined(separator: ", ")

    /// The number of the last fetch that has begun, as SQL.
    static let lastFetch = "(SELECT last_value - (NOT is_called)::int FROM source_seen)"

    init(
        id: Int64,
        queue: Int64,
        key: Int64,
        lane: Int64,
        state: JobState,
        priority: Int,
        due: Int64,
        maxAttempts: Int,
        refresh: Refresh,
        uniqueKey: String?,
        upload: Int64?,
        isHooked: Bool
    ) {
        self.id = id
        self.queue = queue
        self.key = key
        self.lane = lane
        self.state = state
        self.priority = priority
        self.due = due
        self.maxAttempts = maxAttempts
        self.refresh = refresh
        self.uniqueKey = uniqueKey
        self.upload = upload
        self.isHooked = isHooked
    }

    /// Reads ``columns``.
    init(_ row: Row) throws {
        id = try row[0]
        queue = try row[1]
        key = try row[2]
        lane = try row[3]
        state = try JobState(code: try row[4])
        priority = try row[5]
        due = try row[6]
        attempt = try row[7]
        maxAttempts = try row[8]
        crashCount = try row[9]
        tries = try row[10]
        attemptedAt = try row[11]
        failed = try row[12]
        refresh = Refresh(code: try row[13])
        uniqueKey = try row[14]
        upload = try row[15]
        token = try row[16]
        worker = try row[17]
        isHooked = try row[18]
        fetchAfter = try row[19]
    }

    /// Finds a task, and locks it in a commit; nil for a job that has ended or is not yet accepted.
    static func find(_ id: Int64, _ db: Database) throws -> TaskRow? { try all("WHERE id = $1", [id], db).first }

    /// Selects tasks by the rest of a SELECT statement, and locks them in a commit.
    static func all(_ rest: String, _ values: [(any SQLBindable)?], _ db: Database) throws -> [TaskRow] {
        try db.query("SELECT \(columns) FROM task \(rest)\(db.isWriting ? " FOR UPDATE OF task" : "")", values)
            .map(TaskRow.init)
    }

    /// Inserts a new task, which waits and has no attempts, except those before a manual retry (`tries`).
    func insert(_ db: Database) throws {
        try db.execute(
            """
            INSERT INTO task(id, queue, key, lane, state, priority, due, rank, max_attempts, tries, attempted_at,
              refresh, unique_key, upload, hooked, fetch_after)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \(Self.lastFetch))
            """,
            [
                id, queue, key, lane, state.code, priority, due, rank, maxAttempts, tries, attemptedAt, refresh.code,
                uniqueKey, upload, isHooked,
            ]
        )
    }

    /// Updates all mutable columns.
    func update(_ db: Database) throws {
        try db.execute(
            """
            UPDATE task SET state = $1, priority = $2, due = $3, rank = $4, attempt = $5, crash_count = $6, tries = $7,
              attempted_at = $8, failed = $9, refresh = $10, unique_key = $11, upload = $12, token = $13, worker = $14,
              hooked = $15, fetch_after = $16
            WHERE id = $17
            """,
            [
                state.code, priority, due, rank, attempt, crashCount, tries, attemptedAt, failed, refresh.code,
                uniqueKey, upload, token, worker, isHooked, fetchAfter, id,
            ]
        )
    }

    func delete(_ db: Database) throws { try db.execute("DELETE FROM task WHERE id = $1", [id]) }
}
