package import CameoModel
package import CameoStore

/// The queue's row of an unfinished job.
package struct TaskRow: Sendable {
    package let id: Int64
    package let queue: Int64
    package private(set) var key: Int64 = 0
    package private(set) var lane: Int64 = 0
    /// 0: none.
    package private(set) var tenant: Int64 = 0
    package var state = JobState.available
    package var priority = 0
    package var due: Int64
    package var attempt = 0
    package var maxAttempts = ThumbnailRequest.defaultMaxAttempts
    package var crashCount = 0
    package var tries = 0
    package var attemptedAt: Int64?
    package var failed: Int?
    package var refresh = Refresh.ifChanged
    package var uniqueKey: String?
    package var upload: Int64?
    /// Whether its end is to be delivered to hooks.
    package var isHooked: Bool
    package var token: String?
    package var worker: String?
    /// What its lane was charged for the running attempt, in the unit of ``Share/used``; nil: its queue was not fair.
    package var charged: Double?
    /// The number of the last fetch that had begun when the job was requested, by itself or by a request that joined it.
    package var fetchAfter: Int64 = 0
    /// The end of its source, which a forget finds it by; empty if it is not known. It is written when the task enters, and not
    /// read.
    package var sourceTail = ""

    package var rank: Int64 { Rank.of(id, due: due, priority: priority) }

    // Values and reading have the order of ``RecordKind/task``, and then the columns of a claim.

    /// The length of ``sourceTail``, in Unicode scalars. Scripts of the schemas have it.
    package static let tailLength = 24

    /// The end of a source that is no upload.
    package static func tail(of source: String) -> String { String(source.unicodeScalars.suffix(tailLength)) }

    /// The values of a task that is new, of ``enteredFields``.
    package var entered: [(any SQLBindable)?] { values + [sourceTail] }
    package static let enteredFields: [RecordField] =
        RecordKind.task.fields.dropLast() + [RecordField("source_tail text")]

    /// The values of the columns that both a new task and a changed one have.
    private var values: [(any SQLBindable)?] {
        [
            id, queue, key, lane, tenant, state, priority, due, rank, attempt, maxAttempts, crashCount, tries,
            attemptedAt, failed, refresh, uniqueKey, upload, isHooked,
        ]
    }

    private static let names = RecordKind.task.names + ["token", "worker", "charged"]
    /// How many of them never change.
    private static let fixed = 5

    /// The columns that ``init(_:)`` reads.
    package static let columns = names.map { "task.\($0)" }.list

    /// What ``entered`` and the number of the last fetch, in place of its own, are inserted into.
    package static let entry = "INSERT INTO task(\((enteredFields.map(\.name) + ["fetch_after"]).list))"

    /// Inserts a task.
    package static func insertion(after lastFetch: String) -> String {
        "\(entry) VALUES (\((enteredFields.map(\.name).places + [lastFetch]).list))"
    }

    /// Updates all columns that change.
    fileprivate static let change = {
        let changes = zip(names.dropFirst(fixed), names.places).map { "\($0) = \($1)" }
        return "UPDATE task SET \(changes.list) WHERE id = ?\(changes.count + 1)"
    }()

    fileprivate var changing: [(any SQLBindable)?] {
        values.dropFirst(Self.fixed) + [fetchAfter, token, worker, charged, id]
    }
}

// Conditions as SQL, with numbers and not parameters: a partial index serves only queries that repeat its own condition.
// Scripts of the schemas have the same ones written out, because they never change.
extension TaskRow {
    package static let isAvailable = "state = \(JobState.available.code)"
    package static let isRunning = "state = \(JobState.running.code)"
    /// Whether it waits, now or later.
    package static let isWaiting = "state <> \(JobState.running.code)"
    /// Whether it waits for its time.
    package static let isPostponed = "state IN (\(JobState.scheduled.code), \(JobState.retryable.code))"
    /// Whether a usual claim may take it.
    package static let isReady = "\(isAvailable) AND crash_count < \(ClaimKind.poisonAfterCrashes)"
    /// Whether it is to run alone.
    package static let isPoison = "\(isAvailable) AND crash_count >= \(ClaimKind.poisonAfterCrashes)"
}

extension TaskRow {
    /// Takes the claim away.
    mutating func lose() { (token, worker, charged) = (nil, nil, nil) }

    /// What the counts, the change feed and hooks need of a job.
    package init(id: Int64, queue: Int64, key: Int64, lane: Int64 = 0, tenant: Int64 = 0, isHooked: Bool = false) {
        self.init(id: id, queue: queue, key: key, lane: lane, tenant: tenant, due: 0, isHooked: isHooked)
    }

    /// Reads ``columns``.
    package init(_ row: QueueRow) throws {
        var column = RowColumns(row)
        // One that was cut would name no row, and a claim would find the task again and again.
        id = try column.number() ?? 0
        queue = try column.next()
        key = try column.next()
        lane = try column.next()
        tenant = try column.next()
        state = try column.next()
        priority = try column.next()
        due = try column.next()
        // The rank, which follows from others.
        _ = try column.number()
        attempt = try column.next()
        maxAttempts = try column.next()
        crashCount = try column.next()
        tries = try column.next()
        attemptedAt = try column.next()
        failed = try column.next()
        refresh = try column.next()
        uniqueKey = try column.next()
        upload = try column.next()
        isHooked = try column.next()
        fetchAfter = try column.next()
        token = try column.next()
        worker = try column.next()
        charged = try column.next()
    }
}

extension QueueTransaction {
    /// Selects tasks by what follows FROM, and locks them in a commit.
    package func tasks(_ rest: String, _ values: [(any SQLBindable)?]) throws -> [TaskRow] {
        try query("SELECT \(TaskRow.columns) FROM task \(rest) \(lockingOfTasks)", values).map { try TaskRow($0) }
    }

    /// Finds a task; nil for a job that has ended or is not yet accepted.
    package func task(_ id: Int64) throws -> TaskRow? { try tasks("WHERE id = ?1", [id]).first }

    /// Inserts a new task, which waits and has no attempts, except those before a manual retry (`tries`).
    package func insert(_ task: TaskRow) throws {
        try execute(dialect.insertionOfTask, task.entered)
    }

    package func update(_ task: TaskRow) throws { try execute(TaskRow.change, task.changing) }

    package func delete(_ task: TaskRow) throws { try execute("DELETE FROM task WHERE id = ?1", [task.id]) }

    /// The failure of a task's last failed attempt.
    package func previousFailure(of task: TaskRow) throws -> JobFailure? {
        guard let number = task.failed else { return nil }
        let look = "SELECT failure FROM \(dialect.earlierAttempts) WHERE job_id = ?1 AND number = ?2"
        return try JobFailure.from(stored: value(look, [task.id, number]))
    }
}
