internal import CameoModel
internal import CameoStore
internal import Foundation

// DESIGN. A search queries each table that the filter can match (unfinished jobs are in `task`, ended ones in `outcome`,
// and unaccepted ones in `job` alone), up to the limit, and merges the results by id. Each query scans ids from one end,
// which soon finds common values. Rare values use an index: PostgreSQL's planner has statistics; SQLite is told the index
// of a failure code, and of a queue or state that has few jobs according to the counters. A time of creation becomes an
// id: ids ascend with time, almost (a transaction commits later than it takes its ids, and a clock may be set back).
struct JobSearch: Sendable {
    enum Order: String, Sendable {
        case newest = "DESC"
        case oldest = "ASC"
    }

    /// The number of jobs of a queue or state below which an index is used and its rows are sorted.
    private static let few = 5_000

    let filter: JobFilter
    /// Only jobs with ids above this are searched.
    var after: Int64 = 0

    /// The matching ids in order, up to the filter's limit.
    func ids(order: Order, _ db: some QueueTransaction) throws -> [Int64] {
        var search = self
        if let time = filter.createdSince {
            search.after = max(after, try Self.lastID(before: time.milliseconds, db))
        }
        // A queue is searched by its number, for whose frequency a planner may have statistics.
        let queue: Int64? = try filter.queue.map { try db.value("SELECT id FROM queue WHERE name = ?1", [$0]) ?? 0 }
        // A job that ended between two of these queries is in both.
        let ids = try Set(
            search.tasks(queue, order, db) + search.outcomes(queue, order, db) + search.arrivals(order, db)
        )
        return Array((order == .newest ? ids.sorted(by: >) : ids.sorted()).prefix(filter.limit))
    }

    /// The id up to which all jobs were created before a time, by bisection: times have no index.
    private static func lastID(before time: Int64, _ db: some QueueTransaction) throws -> Int64 {
        var low: Int64 = 0
        var high: Int64 = try db.value("SELECT max(id) FROM job") ?? 0
        while low < high {
            let middle = low + (high - low + 1) / 2
            let newest = try db.row("SELECT id, created_at FROM job WHERE id <= ?1 ORDER BY id DESC LIMIT 1", [middle])
            guard let newest, case let id:Int64 = try newest["id"], id > low else {
                // Retention has removed the jobs in between.
                low = middle
                continue
            }
            if try newest["created_at"] < time { low = middle } else { high = id - 1 }
        }
        return low
    }

    private func asks(for states: [JobState]) -> Bool {
        filter.states.isEmpty || !Set(filter.states).isDisjoint(with: states)
    }

    private func tasks(_ queue: Int64?, _ order: Order, _ db: some QueueTransaction) throws -> [Int64] {
        guard asks(for: [.scheduled, .available, .running, .retryable]) else { return [] }
        var conditions = try SearchConditions(filter, after: after, table: "task", db)
        if let queue { conditions.require("task.queue =", queue) }
        if !filter.codes.isEmpty {
            conditions.require(
                """
                failed IS NOT NULL AND (SELECT failure ->> 'code' FROM \(db.dialect.earlierAttempts)
                  WHERE job_id = task.id AND number = task.failed) IN
                """,
                anyOf: filter.codes.map(\.rawValue)
            )
        }
        let index = db.dialect.indexed(by: filter.codes.isEmpty ? nil : "task_failed")
        let tables = "task \(index) JOIN \(db.dialect.jobs) ON job.id = task.id"
        return try conditions.ids(from: tables, order, db)
    }

    private func outcomes(_ queue: Int64?, _ order: Order, _ db: some QueueTransaction) throws -> [Int64] {
        guard asks(for: [.completed, .discarded, .cancelled]) else { return [] }
        var conditions = try SearchConditions(filter, after: after, table: "outcome", db)
        if let queue { conditions.require("outcome.queue =", queue) }
        if !filter.codes.isEmpty {
            conditions.require("code IS NOT NULL AND code IN", anyOf: filter.codes.map(\.rawValue))
        }
        let index = db.dialect.namesIndexes ? db.dialect.indexed(by: try indexOfOutcomes(queue, db)) : ""
        let tables = "outcome \(index) JOIN \(db.dialect.jobs) ON job.id = outcome.id"
        return try conditions.ids(from: tables, order, db)
    }

    private func indexOfOutcomes(_ queue: Int64?, _ db: some QueueTransaction) throws -> String? {
        if !filter.codes.isEmpty { return "outcome_code" }
        if let queue, try count("completed + discarded + cancelled", of: queue, db) < Self.few {
            return "outcome_queue"
        }
        let states = filter.states.map(\.rawValue).joined(separator: " + ")
        return try !states.isEmpty && count(states, of: nil, db) < Self.few ? "outcome_end" : nil
    }

    /// The number of jobs of a queue, or of all queues, according to the counters.
    private func count(_ columns: String, of queue: Int64?, _ db: some QueueTransaction) throws -> Int {
        try db.value(
            "SELECT coalesce(sum(\(columns)), 0) FROM queue_count WHERE queue = coalesce(?1, queue)",
            [queue]
        ) ?? 0
    }

    /// Searches unaccepted jobs, of which only the request is known.
    private func arrivals(_ order: Order, _ db: some QueueTransaction) throws -> [Int64] {
        guard asks(for: [.scheduled, .available]), filter.codes.isEmpty, try db.hasArrivals() else { return [] }
        var conditions = try SearchConditions(filter, after: after, table: "job_status", db)
        if let queue = filter.queue { conditions.require("job_status.queue =", queue) }
        return try conditions.ids(from: db.dialect.arrivals, order, db)
    }
}

/// A filter of jobs as SQL conditions on a table.
private struct SearchConditions {
    private var terms: [String] = []
    private var values: [(any SQLBindable)?] = []
    private let table: String
    private let limit: Int

    init(_ filter: JobFilter, after: Int64, table: String, _ db: some QueueTransaction) throws {
        let dialect = db.dialect
        (self.table, limit) = (table, filter.limit)
        if after > 0 { require("\(table).id >", after) }
        if let before = filter.before { require("\(table).id <", before) }
        if !filter.states.isEmpty {
            if table == "job_status" {
                require("\(table).state IN", anyOf: filter.states.map(\.rawValue))
            } else {
                require("\(table).state IN", anyOf: filter.states.map(\.code))
            }
        }
        if let batch = filter.batch {
            let name = place(of: batch)
            let inBatch = """
                \(table).id IN (
                  SELECT job_id FROM batch JOIN batch_job ON batch_job.batch = batch.id WHERE name = \(name))
                """
            terms.append(table == "job_status" ? "(\(inBatch) OR job_status.batch = \(name))" : inBatch)
        }
        if let label = filter.label { terms.append(dialect.hasLabel(place(of: label))) }
        if let key = filter.concurrencyKey {
            if table == "job_status" {
                require("\(dialect.field("concurrencyKey")) =", key)
            } else {
                // By its number, like a queue, in the index of the jobs that have a key, which ended ones keep.
                let number = place(of: try db.value("SELECT id FROM key WHERE name = ?1", [key]) ?? Int64(0))
                terms.append("\(table).id IN (SELECT id FROM accepted WHERE key <> 0 AND key = \(number))")
            }
        }
        if let tenant = filter.tenant {
            if table == "job_status" {
                require("coalesce(\(dialect.field("tenant")), \(dialect.field("concurrencyKey"))) =", tenant)
            } else {
                let number = place(of: try db.value("SELECT id FROM tenant WHERE name = ?1", [tenant]) ?? Int64(0))
                terms.append("\(table).id IN (SELECT id FROM accepted WHERE tenant <> 0 AND tenant = \(number))")
            }
        }
        if let prefix = filter.sourcePrefix {
            // Not LIKE, in which `_` and `%` are wildcards, and which ignores case in SQLite.
            let source = """
                coalesce((SELECT 'cameo://blob/sha256-' || digest FROM upload WHERE job_id = \(table).id), \(dialect.source))
                """
            let place = place(of: prefix)
            terms.append("substr(\(source), 1, length(\(place))) = \(place)")
        }
    }

    private mutating func place(of value: some SQLBindable) -> String {
        values.append(value)
        return "?\(values.count)"
    }

    /// Adds a condition that ends with an operator before its value.
    mutating func require(_ term: String, _ value: some SQLBindable) {
        terms.append("\(term) \(place(of: value))")
    }

    /// Adds a condition that ends with IN.
    mutating func require(_ term: String, anyOf values: [some SQLBindable]) {
        let places = values.map { place(of: $0) }.joined(separator: ", ")
        terms.append("\(term) (\(places))")
    }

    func ids(from tables: String, _ order: JobSearch.Order, _ db: some QueueTransaction) throws -> [Int64] {
        try db.column(
            """
            SELECT \(table).id FROM \(tables) WHERE \(terms.isEmpty ? "TRUE" : terms.joined(separator: " AND "))
            ORDER BY \(table).id \(order.rawValue) LIMIT ?\(values.count + 1)
            """,
            values + [limit]
        )
    }
}
