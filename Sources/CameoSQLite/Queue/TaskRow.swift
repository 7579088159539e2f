internal import CameoModel
internal import CameoStore
internal import GRDB

/// The queue's row of an unfinished job.
struct TaskRow {
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
    var waits: Bool { state != .running }

    private static let columns = """
        id, queue, key, lane, state, priority, due, attempt, max_attempts, crash_count, tries, attempted_at, failed,
        refresh, unique_key, upload, token, worker, hooked, fetch_after
        """

    /// The number of the last fetch that has begun, as SQL.
    static let lastFetch = "(SELECT value FROM sequence WHERE name = 'source_seen')"

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

    private init(_ row: Row) throws {
        id = row[0]
        queue = row[1]
        key = row[2]
        lane = row[3]
        state = try JobState(code: row[4])
        priority = row[5]
        due = row[6]
        attempt = row[7]
        maxAttempts = row[8]
        crashCount = row[9]
        tries = row[10]
        attemptedAt = row[11]
        failed = row[12]
        refresh = Refresh(code: row[13])
        uniqueKey = row[14]
        upload = row[15]
        token = row[16]
        worker = row[17]
        isHooked = row[18]
        fetchAfter = row[19]
    }

    /// Finds a task; nil for a job that has ended or is not yet accepted.
    static func find(_ id: Int64, _ db: SQLiteTransaction) throws -> TaskRow? {
        try all("WHERE id = ?", [id], db).first
    }

    /// Finds the task of a claim that is still valid (invariant I1).
    static func find(_ claim: Claim, _ db: SQLiteTransaction) throws -> TaskRow {
        guard let task = try all("WHERE id = ? AND token = ? AND state = 2", [claim.jobID, claim.token], db).first
        else { throw StoreError.leaseLost(jobID: claim.jobID) }
        return task
    }

    /// Selects tasks by the rest of a SELECT statement.
    static func all(_ rest: String, _ arguments: StatementArguments, _ db: SQLiteTransaction) throws -> [TaskRow] {
        let statement = try db.cachedStatement(sql: "SELECT \(columns) FROM task \(rest)")
        // A cursor's rows are not copied.
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var tasks: [TaskRow] = []
        while let row = try rows.next() { tasks.append(try TaskRow(row)) }
        return tasks
    }

    /// Inserts a new task, which waits and has no attempts, except those before a manual retry (`tries`).
    func insert(_ db: SQLiteTransaction) throws {
        let insert = try db.cachedStatement(
            sql: """
                INSERT INTO task(id, queue, key, lane, state, priority, due, rank, max_attempts, tries, attempted_at,
                  refresh, unique_key, upload, hooked, fetch_after)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \(Self.lastFetch))
                """
        )
        let own: [(any DatabaseValueConvertible)?] = [
            id, queue, key, lane, state.code, priority, due, rank, maxAttempts, tries, attemptedAt, refresh.code,
            uniqueKey, upload, isHooked,
        ]
        try insert.execute(arguments: StatementArguments(own))
    }

    /// Updates all mutable columns.
    func update(_ db: SQLiteTransaction) throws {
        let update = try db.cachedStatement(
            sql: """
                UPDATE task SET state = ?, priority = ?, due = ?, rank = ?, attempt = ?, crash_count = ?, tries = ?,
                  attempted_at = ?, failed = ?, refresh = ?, unique_key = ?, upload = ?, token = ?, worker = ?,
                  hooked = ?, fetch_after = ?
                WHERE id = ?
                """
        )
        let own: [(any DatabaseValueConvertible)?] = [
            state.code, priority, due, rank, attempt, crashCount, tries, attemptedAt, failed, refresh.code, uniqueKey,
            upload, token, worker, isHooked, fetchAfter, id,
        ]
        try update.execute(arguments: StatementArguments(own))
    }

    func delete(_ db: SQLiteTransaction) throws {
        try db.cachedStatement(sql: "DELETE FROM task WHERE id = ?").execute(arguments: [id])
    }
}
