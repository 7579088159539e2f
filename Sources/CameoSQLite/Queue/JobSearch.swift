internal import CameoModel
internal import CameoStore
internal import Foundation
internal import GRDB

// DESIGN. Jobs are in three tables: unfinished jobs in `task`, ended ones in `outcome`, and unaccepted ones in `job`
// alone. A search queries each table that the filter can match, up to the limit, and merges the results by id. Each
// query scans ids from one end, which soon finds common values. Rare values use an index: a failure code, a batch, and
// a queue or state that has few jobs according to the counters. A time of creation becomes an id: ids ascend with time
// unless a clock was set back.
struct JobSearch: Sendable {
    enum Order: String {
        case newest = "DESC"
        case oldest = "ASC"
    }

    /// The number of jobs of a queue or state below which an index is used and its rows are sorted.
    private static let few = 5_000

    private let filter: JobFilter
    private var after: Int64

    /// Searches jobs with ids above `after`.
    init(_ filter: JobFilter, after: Int64 = 0) {
        self.filter = filter
        self.after = after
    }

    /// The matching ids in order, up to the filter's limit.
    func ids(order: Order, _ db: Database) throws -> [Int64] {
        var search = self
        if let time = filter.createdSince {
            search.after = max(after, try Self.lastID(before: time.milliseconds, db))
        }
        return try search.idsAfter(order, db)
    }

    /// The id up to which all jobs were created before a time, by bisection: times have no index.
    private static func lastID(before time: Int64, _ db: Database) throws -> Int64 {
        let newest = try db.cachedStatement(
            sql: "SELECT id, created_at FROM job WHERE id <= ? ORDER BY id DESC LIMIT 1"
        )
        var low: Int64 = 0
        var high = try Int64.fetchOne(db, sql: "SELECT max(id) FROM job") ?? 0
        while low < high {
            let middle = low + (high - low + 1) / 2
            guard let row = try Row.fetchOne(newest, arguments: [middle]), (row[0] as Int64) > low else {
                // Retention has removed the jobs in between.
                low = middle
                continue
            }
            if (row[1] as Int64) < time { low = middle } else { high = (row[0] as Int64) - 1 }
        }
        return low
    }

    private func idsAfter(_ order: Order, _ db: Database) throws -> [Int64] {
        let found = try [tasks(order, db), outcomes(order, db), arrivals(order, db)].flatMap { $0 }
        let sorted = order == .newest ? found.sorted(by: >) : found.sorted()
        return Array(sorted.prefix(filter.limit))
    }

    private func asks(for states: [JobState]) -> Bool {
        filter.states.isEmpty || !Set(filter.states).isDisjoint(with: states)
    }

    private func tasks(_ order: Order, _ db: Database) throws -> [Int64] {
        guard asks(for: [.scheduled, .available, .running, .retryable]) else { return [] }
        var conditions = Conditions(filter, after: after, table: "task")
        if let queue = filter.queue {
            conditions.require("task.queue = (SELECT id FROM queue WHERE name = ?)", [queue])
        }
        var index = "NOT INDEXED"
        if !filter.codes.isEmpty {
            index = "INDEXED BY task_failed"
            conditions.require(
                """
                failed IS NOT NULL AND (SELECT json_extract(failure, '$.code') FROM attempt
                  WHERE job_id = task.id AND number = task.failed) IN (\(Conditions.places(filter.codes.count)))
                """,
                filter.codes.map(\.rawValue)
            )
        }
        return try conditions.ids(from: "task \(index) JOIN job ON job.id = task.id", order, filter.limit, db)
    }

    private func outcomes(_ order: Order, _ db: Database) throws -> [Int64] {
        guard asks(for: [.completed, .discarded, .cancelled]) else { return [] }
        var conditions = Conditions(filter, after: after, table: "outcome")
        if let queue = filter.queue {
            conditions.require("outcome.queue = (SELECT id FROM queue WHERE name = ?)", [queue])
        }
        var index = "NOT INDEXED"
        if !filter.codes.isEmpty {
            index = "INDEXED BY outcome_code"
            conditions.require(
                "code IS NOT NULL AND code IN (\(Conditions.places(filter.codes.count)))",
                filter.codes.map(\.rawValue)
            )
        } else if let queue = filter.queue,
            try Self.count("completed + discarded + cancelled", of: queue, db) < Self.few
        {
            index = "INDEXED BY outcome_queue"
        } else if !filter.states.isEmpty,
            try Self.count(filter.states.map(\.rawValue).joined(separator: " + "), of: nil, db) < Self.few
        {
            index = "INDEXED BY outcome_end"
        }
        return try conditions.ids(from: "outcome \(index) JOIN job ON job.id = outcome.id", order, filter.limit, db)
    }

    /// Searches unaccepted jobs, of which only the request is known.
    private func arrivals(_ order: Order, _ db: Database) throws -> [Int64] {
        guard asks(for: [.scheduled, .available]), filter.codes.isEmpty, try SQLiteStore.hasArrivals(db) else {
            return []
        }
        var conditions = Conditions(filter, after: after, table: "job_status")
        conditions.require("job_status.id > (SELECT value FROM sequence WHERE name = 'accepted')", [])
        conditions.require("NOT EXISTS (SELECT 1 FROM task WHERE task.id = job_status.id)", [])
        conditions.require("NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = job_status.id)", [])
        if let queue = filter.queue { conditions.require("job_status.queue = ?", [queue]) }
        return try conditions.ids(
            from: "job_status JOIN job ON job.id = job_status.id",
            order,
            filter.limit,
            db
        )
    }

    /// The number of jobs of a queue, or of all queues, according to the counters.
    private static func count(_ columns: String, of queue: String?, _ db: Database) throws -> Int {
        try Int.fetchOne(
            db,
            sql: """
                SELECT coalesce(sum(\(columns)), 0) FROM queue JOIN queue_count ON queue_count.queue = queue.id
                WHERE name = coalesce(?, name)
                """,
            arguments: [queue]
        ) ?? 0
    }
}

/// A filter as SQL conditions on a table.
private struct Conditions {
    private var terms: [String] = []
    private var arguments = StatementArguments()
    private let table: String

    init(_ filter: JobFilter, after: Int64, table: String) {
        self.table = table
        if after > 0 { require("\(table).id > ?", [after]) }
        if let before = filter.before { require("\(table).id < ?", [before]) }
        if !filter.states.isEmpty {
            let isView = table == "job_status"
            let values: [any DatabaseValueConvertible] =
                isView ? filter.states.map(\.rawValue) : filter.states.map(\.code)
            require("\(table).state IN (\(Self.places(values.count)))", values)
        }
        if let batch = filter.batch {
            require(
                """
                (\(table).id IN (SELECT job_id FROM batch JOIN batch_job ON batch_job.batch = batch.id WHERE name = ?)
                  \(table == "job_status" ? "OR job_status.batch = ?" : ""))
                """,
                table == "job_status" ? [batch, batch] : [batch]
            )
        }
        if let prefix = filter.sourcePrefix {
            // Not LIKE, which ignores case and treats `_` as a wildcard.
            let source = """
                coalesce((SELECT 'cameo://blob/sha256-' || digest FROM upload WHERE job_id = \(table).id),
                  json_extract(job.request, '$.source'))
                """
            require("substr(\(source), 1, length(?)) = ?", [prefix, prefix])
        }
    }

    static func places(_ count: Int) -> String { repeatElement("?", count: count).joined(separator: ", ") }

    mutating func require(_ term: String, _ values: [any DatabaseValueConvertible]) {
        terms.append(term)
        arguments += StatementArguments(values)
    }

    func ids(from tables: String, _ order: JobSearch.Order, _ limit: Int, _ db: Database) throws -> [Int64] {
        let condition = terms.isEmpty ? "TRUE" : terms.joined(separator: " AND ")
        return try Int64.fetchAll(
            db,
            sql: "SELECT \(table).id FROM \(tables) WHERE \(condition) ORDER BY \(table).id \(order.rawValue) LIMIT ?",
            arguments: arguments + [limit]
        )
    }
}
