internal import CameoModel
internal import CameoStore
internal import Foundation

// DESIGN. Jobs are in three tables: unfinished jobs in `task`, ended ones in `outcome`, and unaccepted ones in `arrival`
// and `job` alone. A search queries each table that the filter can match, up to the limit, and merges the results by id.
// The planner sees the filter's values and chooses between a scan of ids from one end, which soon finds common values,
// and the index of a rare one. A time of creation becomes an id: ids ascend with time, almost (a transaction commits
// later than it takes its ids).
struct JobSearch: Sendable {
    enum Order: String {
        case newest = "DESC"
        case oldest = "ASC"
    }

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
        var low: Int64 = 0
        var high: Int64 = try db.value("SELECT max(id) FROM job") ?? 0
        while low < high {
            let middle = low + (high - low + 1) / 2
            let newest = try db.row(
                "SELECT id, created_at FROM job WHERE id <= $1 ORDER BY id DESC LIMIT 1",
                [middle]
            )
            guard let newest, case let id:Int64 = try newest[0], id > low else {
                // Retention has removed the jobs in between.
                low = middle
                continue
            }
            if try newest[1] < time { low = middle } else { high = id - 1 }
        }
        return low
    }

    private func idsAfter(_ order: Order, _ db: Database) throws -> [Int64] {
        // A queue is searched by its number, for whose frequency the planner has statistics.
        var queue: Int64?
        if let name = filter.queue { queue = try db.value("SELECT id FROM queue WHERE name = $1", [name]) ?? 0 }
        let found = try [tasks(queue, order, db), outcomes(queue, order, db), arrivals(order, db)].flatMap { $0 }
        // A job that ended between two of these queries is in both.
        let ids = Set(found)
        return Array((order == .newest ? ids.sorted(by: >) : ids.sorted()).prefix(filter.limit))
    }

    private func asks(for states: [JobState]) -> Bool {
        filter.states.isEmpty || !Set(filter.states).isDisjoint(with: states)
    }

    private func tasks(_ queue: Int64?, _ order: Order, _ db: Database) throws -> [Int64] {
        guard asks(for: [.scheduled, .available, .running, .retryable]) else { return [] }
        var conditions = SearchConditions(filter, after: after, table: "task")
        if let queue { conditions.require("task.queue =", queue) }
        if !filter.codes.isEmpty {
            conditions.require(
                """
                failed IS NOT NULL AND (
                  SELECT failure ->> 'code' FROM earlier_attempt WHERE job_id = task.id AND number = task.failed) IN
                """,
                anyOf: filter.codes.map(\.rawValue)
            )
        }
        return try conditions.ids(from: "task JOIN job ON job.id = task.id", order, filter.limit, db)
    }

    private func outcomes(_ queue: Int64?, _ order: Order, _ db: Database) throws -> [Int64] {
        guard asks(for: [.completed, .discarded, .cancelled]) else { return [] }
        var conditions = SearchConditions(filter, after: after, table: "outcome")
        if let queue { conditions.require("outcome.queue =", queue) }
        if !filter.codes.isEmpty {
            conditions.require("code IS NOT NULL AND code IN", anyOf: filter.codes.map(\.rawValue))
        }
        return try conditions.ids(from: "outcome JOIN job ON job.id = outcome.id", order, filter.limit, db)
    }

    /// Searches unaccepted jobs, of which only the request is known.
    private func arrivals(_ order: Order, _ db: Database) throws -> [Int64] {
        guard asks(for: [.scheduled, .available]), filter.codes.isEmpty else { return [] }
        var conditions = SearchConditions(filter, after: after, table: "job_status")
        if let queue = filter.queue { conditions.require("job_status.queue =", queue) }
        return try conditions.ids(
            from: "arrival JOIN job_status ON job_status.id = arrival.id JOIN job ON job.id = arrival.id",
            order,
            filter.limit,
            db
        )
    }
}
