package import CameoModel
package import CameoStore
internal import Foundation

// DESIGN. What records of a kind have is what rows of its table have (``RecordKind/fields``): there each column is named once, in
// an order. Statements about a row are made of these names, and its values follow in their order.

/// Reads the columns of a row that a statement selected in the order in which they are read.
struct RowColumns {
    private let row: QueueRow
    private var place = 0

    init(_ row: QueueRow) { self.row = row }

    mutating func next<Value: SQLReadable>() throws -> Value {
        defer { place += 1 }
        return try row[place]
    }
    mutating func next<Value: SQLReadable>() throws -> Value? {
        defer { place += 1 }
        return try row[place]
    }
    /// A number as it is (``QueueRow/integer(_:)``).
    mutating func number() throws -> Int64? {
        defer { place += 1 }
        return try row.integer(place)
    }
}

extension [String] {
    package var list: String { joined(separator: ", ") }
    /// Parameters, one for each column.
    package var places: [String] { indices.map { "?\($0 + 1)" } }
    /// Inserts a row of a table that has these columns.
    package func insertion(into table: String) -> String {
        "INSERT INTO \(table)(\(list)) VALUES (\(places.list))"
    }
    /// What an insertion sets in a row that is there.
    package var replacement: String { map { "\($0) = excluded.\($0)" }.list }
}

extension JobState: SQLBindable, SQLReadable {
    package var sqlValue: SQLValue { .integer(Int64(code)) }
    package static func read(_ column: Int, of row: QueueRow) throws -> JobState? {
        try Int.read(column, of: row).map(JobState.init(code:))
    }
}

extension Refresh: SQLBindable, SQLReadable {
    package var sqlValue: SQLValue { .integer(Int64(code)) }
    package static func read(_ column: Int, of row: QueueRow) throws -> Refresh? {
        try Int.read(column, of: row).map(Refresh.init(code:))
    }
}

extension RecordKind {
    package var names: [String] { fields.map(\.name) }
}

extension AttemptTimings {
    /// The last columns of an attempt.
    package var values: [(any SQLBindable)?] {
        [
            throttledMilliseconds, fetchMilliseconds, queueMilliseconds, renderMilliseconds, storeMilliseconds,
            sourceBytes,
            outputBytes, cpuMilliseconds,
        ]
    }
}

/// What is written of a job that has ended.
package struct OutcomeRow: Sendable {
    package let task: TaskRow
    package let end: End
    /// Those of ``RecordKind/outcome``.
    package let values: [(any SQLBindable)?]

    package init(_ task: TaskRow, _ end: End, at time: Int64) throws {
        (self.task, self.end) = (task, end)
        values = [
            task.id, end.state, task.queue, task.priority, task.due, task.attempt, task.maxAttempts, task.crashCount,
            task.attemptedAt, time, try end.failure?.stored, end.failure?.code.rawValue, end.supersededBy,
        ]
    }
}

/// What is written of an attempt that has ended.
package struct AttemptRow: Sendable {
    package let task: TaskRow
    package let outcome: JobAttempt.Outcome
    package let failure: JobFailure?
    /// Those of ``RecordKind/attempt``.
    package let values: [(any SQLBindable)?]

    package init(
        _ task: TaskRow,
        _ outcome: JobAttempt.Outcome,
        _ failure: JobFailure?,
        _ timings: AttemptTimings,
        at time: Int64
    ) throws {
        (self.task, self.outcome, self.failure) = (task, outcome, failure)
        values =
            [task.id, task.tries, task.worker, task.attemptedAt, time, outcome.rawValue, try failure?.stored]
            + timings.values
    }
}

extension WorkerDescription {
    /// What a worker writes each time that it extends its lease; the first four columns change then. Times are in
    /// milliseconds: the lease's by the clock that the engine's leases go by, the others since 1970.
    package func row(
        _ progress: WorkerProgress,
        leaseUntil: Int64,
        startedAt: Int64,
        now: Int64
    ) throws -> (columns: [String], changing: [String], values: [(any SQLBindable)?]) {
        let (transfers, trouble) = try progress.texts()
        let row: KeyValuePairs<String, (any SQLBindable)?> = [
            "lease_until": leaseUntil, "transfers": transfers, "trouble": trouble,
            "quiet_hours": try quietTimes(at: Date(milliseconds: now)), "id": id, "host": host, "pid": pid,
            "version": version, "concurrency": concurrency, "renderers": renderers,
            "renderer_version": rendererVersion, "queues": queues, "started_at": startedAt,
        ]
        return (row.map(\.key), row.prefix(4).map(\.key), row.map(\.value))
    }
}
