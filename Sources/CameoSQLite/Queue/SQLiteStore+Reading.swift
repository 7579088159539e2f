internal import CameoHTTPCache
package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation
internal import GRDB

extension SQLiteStore {
    package func job(_ id: Int64) async throws(StoreError) -> Job {
        try await read { db in try Self.job(id, attempts: Self.attempts(of: id, db), db) }
    }

    package func jobInPlace(of id: Int64) async throws(StoreError) -> Job {
        try await read { db in
            let place = try Row.fetchOne(db.cachedStatement(sql: Self.lastPlace), arguments: [id])
            let isThere = place?["state"] as String? != nil
            let last = isThere ? place?["id"] as Int64? ?? id : id
            return try Self.job(last, attempts: Self.attempts(of: last, db), db)
        }
    }

    /// Follows superseded jobs from a given id to the last. The state is NULL if retention has removed that job. It is a
    /// subquery, because SQLite would make all of a view that is joined from the left.
    private static let lastPlace = """
        WITH RECURSIVE place(id) AS (
          VALUES (?) UNION SELECT superseded_by FROM outcome JOIN place USING (id) WHERE superseded_by NOT NULL)
        SELECT id, (SELECT state FROM job_status WHERE job_status.id = place.id) AS state FROM place
        WHERE NOT EXISTS (SELECT 1 FROM outcome WHERE outcome.id = place.id AND superseded_by NOT NULL)
        """

    package func jobs(_ filter: JobFilter) async throws(StoreError) -> [Job] {
        try await read { db in
            try JobSearch(filter).ids(order: .newest, db).map { try Self.job($0, attempts: nil, db) }
        }
    }

    package func places(of ids: [Int64]) async throws(StoreError) -> [Int64: JobPlace] {
        try await read { db in
            let statement = try db.cachedStatement(sql: Self.lastPlace)
            return try ids.reduce(into: [:]) { places, id in
                guard let row = try Row.fetchOne(statement, arguments: [id]), let state = row["state"] as String? else {
                    return
                }
                places[id] = JobPlace(job: row["id"], state: try JobState(stored: state))
            }
        }
    }

    package func thumbnail(_ id: ThumbnailID) async throws(StoreError) -> Thumbnail {
        try await read { db in
            guard let thumbnail = try Self.thumbnail(id, db) else {
                throw StoreError.notFound(uri: CameoURI.thumbnail(id).text)
            }
            return thumbnail
        }
    }

    package func data(of digest: BlobDigest) async throws(StoreError) -> Data {
        let row = try await row(of: digest)
        let data: Data
        if let inline = row.data { data = inline } else { data = try await files.read(digest) }
        guard SHA256.digest(of: data) == digest else { throw .damagedBlob(digest: digest.description) }
        return data
    }

    package func bytes(of digest: BlobDigest) async throws(StoreError) -> BlobBytes {
        let row = try await row(of: digest)
        guard let data = row.data else {
            return .file(try await files.file(of: digest, size: row.size), count: row.size)
        }
        guard SHA256.digest(of: data) == digest else { throw .damagedBlob(digest: digest.description) }
        return .inMemory(data)
    }

    /// The bytes are nil of a blob that stands in a file.
    private func row(of digest: BlobDigest) async throws(StoreError) -> (data: Data?, size: Int) {
        try await read { db in
            let statement = try db.cachedStatement(sql: "SELECT data, size FROM blob WHERE digest = ?")
            guard let row = try Row.fetchOne(statement, arguments: [digest.hex]) else {
                throw StoreError.notFound(uri: CameoURI.blob(digest).text)
            }
            return (row["data"] as Data?, row["size"])
        }
    }

    package func data(of uri: CameoURI) async throws(StoreError) -> Data {
        try await data(of: try await digest(of: uri))
    }

    package func size(of uri: CameoURI) async throws(StoreError) -> Int {
        let digest = try await digest(of: uri)
        return try await read { db in
            let statement = try db.cachedStatement(sql: "SELECT size FROM blob WHERE digest = ?")
            guard let size = try Int.fetchOne(statement, arguments: [digest.hex]) else {
                throw StoreError.notFound(uri: uri.text)
            }
            return size
        }
    }

    private func digest(of uri: CameoURI) async throws(StoreError) -> BlobDigest {
        switch uri {
        case .blob(let digest): digest
        case .thumbnail(let id): try await thumbnail(id).blob
        case .source(let source): try await cachedSource(source).blob
        }
    }
}
