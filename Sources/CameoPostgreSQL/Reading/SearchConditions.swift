internal import CameoModel
internal import CameoStore

/// A filter of jobs as SQL conditions on a table.
struct SearchConditions {
    private var terms: [String] = []
    private var values: [(any SQLConvertible)?] = []
    private let table: String

    init(_ filter: JobFilter, after: Int64, table: String) {
        self.table = table
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
        if let prefix = filter.sourcePrefix {
            // Not LIKE, in which `_` and `%` are wildcards. The function bears what no text can hold, and is slow.
            terms.append(
                """
                starts_with(coalesce((SELECT 'cameo://blob/sha256-' || digest FROM upload WHERE job_id = \(table).id),
                  CASE WHEN strpos(job.request::text, '\\u0000') = 0 THEN job.request ->> 'source'
                    ELSE field(job.request, 'source') END), \(place(of: prefix)))
                """
            )
        }
    }

    private mutating func place(of value: some SQLConvertible) -> String {
        values.append(value)
        return "$\(values.count)"
    }

    /// Adds a condition that ends with an operator before its value.
    mutating func require(_ term: String, _ value: some SQLConvertible) {
        terms.append("\(term) \(place(of: value))")
    }

    /// Adds a condition that ends with IN.
    mutating func require(_ term: String, anyOf values: [some SQLConvertible]) {
        let places = values.map { place(of: $0) }.joined(separator: ", ")
        terms.append("\(term) (\(places))")
    }

    func ids(from tables: String, _ order: JobSearch.Order, _ limit: Int, _ db: Database) throws -> [Int64] {
        let condition = terms.isEmpty ? "TRUE" : terms.joined(separator: " AND ")
        return try db.column(
            """
            SELECT \(table).id FROM \(tables) WHERE \(condition)
            ORDER BY \(table).id \(order.rawValue) LIMIT $\(values.count + 1)
            """,
            values + [limit]
        )
    }
}
