package import CameoModel
internal import CameoQueue
package import CameoStore

extension PostgreSQLStore {
    package func job(_ id: Int64) async throws(StoreError) -> Job {
        try await read { db in try Self.job(id, attempts: Self.attempts(of: id, db), db) }
    }

    package func jobInPlace(of id: Int64) async throws(StoreError) -> Job {
        try await read { db in
            let last = try Self.places(of: [id], db)[id]?.job ?? id
            return try Self.job(last, attempts: Self.attempts(of: last, db), db)
        }
    }

    package func jobs(_ filter: JobFilter) async throws(StoreError) -> [Job] {
        try await read { db in
            try Self.jobs(JobSearch(filter).ids(order: .newest, db), db)
        }
    }

    package func places(of ids: [Int64]) async throws(StoreError) -> [Int64: JobPlace] {
        try await read { db in try Self.places(of: ids, db) }
    }

    /// Follows superseded jobs to the last. A job is missing if there is none, or if retention has removed the last.
    private static func places(of ids: [Int64], _ db: Database) throws -> [Int64: JobPlace] {
        let rows = try db.query(
            """
            WITH RECURSIVE place(first, id) AS (
              SELECT DISTINCT id, id FROM unnest($1::bigint[]) AS asked(id)
              UNION SELECT first, superseded_by FROM place JOIN outcome ON outcome.id = place.id
                WHERE superseded_by IS NOT NULL)
            SELECT first, place.id, coalesce(task.state, outcome.state, (
              SELECT \(JobPlace.stateOfArrival) FROM job WHERE job.id = place.id))
            FROM place LEFT JOIN task ON task.id = place.id LEFT JOIN outcome ON outcome.id = place.id
            WHERE superseded_by IS NULL
            """,
            [SQLArray(ids), db.now]
        )
        return try rows.reduce(into: [:]) { places, row in
            guard let state: Int = try row[2] else { return }
            places[try row[0]] = try JobPlace(job: row[1], state: JobState(code: state))
        }
    }

    package func thumbnail(_ id: ThumbnailID) async throws(StoreError) -> Thumbnail {
        try await read { db in
            guard let thumbnail = try db.thumbnail(id) else {
                throw StoreError.notFound(uri: CameoURI.thumbnail(id).text)
            }
            return thumbnail
        }
    }
}
