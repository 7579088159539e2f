internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

/// A job that SQL inserted and that was not accepted yet, with its parsed request.
struct Arrival: Sendable {
    /// The limits of a page: rows, bytes of requests, and the time of parsing.
    private static let page = (rows: 500, bytes: 4 * 1_048_576, time: Duration.milliseconds(50))

    let id: Int64
    let createdAt: Int64
    let reading: Result<NewJob, InvalidRequest>

    /// Whether there are any.
    static func exist(_ db: PostgreSQLTransaction) throws -> Bool {
        try db.value("SELECT EXISTS (SELECT 1 FROM arrival)") ?? false
    }

    /// Reads and parses the first ones, in the order of their ids.
    static func page(_ db: PostgreSQLTransaction) throws -> [Arrival] {
        let sizes = try db.query(
            """
            SELECT id, octet_length(request::text) FROM (SELECT id FROM arrival ORDER BY id LIMIT $1) AS first
              JOIN job USING (id) ORDER BY id
            """,
            [page.rows]
        )
        guard !sizes.isEmpty else { return [] }
        var (ids, bytes) = ([Int64](), 0)
        for row in sizes where bytes < page.bytes {
            ids.append(try row[0])
            bytes += try row[1] as Int
        }
        let rows = try db.query(
            "SELECT id, created_at, request::text FROM job WHERE id = ANY($1::bigint[]) ORDER BY id",
            [SQLArray(ids)]
        )
        var arrivals: [Arrival] = []
        let started = ContinuousClock.now
        for row in rows where started.duration(to: .now) < page.time || arrivals.isEmpty {
            arrivals.append(Arrival(id: try row[0], createdAt: try row[1], reading: parse(try row[2])))
        }
        return arrivals
    }

    private static func parse(_ request: String) -> Result<NewJob, InvalidRequest> {
        Result { () throws(InvalidRequest) in try NewJob(ThumbnailRequest(parsing: request.utf8)) }
    }
}
