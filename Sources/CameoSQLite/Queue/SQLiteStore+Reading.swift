internal import CameoHTTPCache
package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation
internal import GRDB

extension SQLiteStore {
    package func job(_ id: Int64) async throws(StoreError) -> Job {
        try await read { db in try db.job(id, attempts: try db.attempts(of: id)) }
    }

    package func jobInPlace(of id: Int64) async throws(StoreError) -> Job {
        try await read { db in try db.jobInPlace(of: id) }
    }

    package func jobs(_ filter: JobFilter) async throws(StoreError) -> [Job] {
        try await read { db in try db.jobs(try JobSearch(filter).ids(order: .newest, db)) }
    }

    package func places(of ids: [Int64]) async throws(StoreError) -> [Int64: JobPlace] {
        try await read { db in try db.places(of: ids) }
    }

    package func queues() async throws(StoreError) -> [StatusReport.Queue] {
        try await read { db in try db.queues() }
    }

    package func unfinishedJobs(queues: [String]?, background: BackgroundJobs) async throws(StoreError) -> Int {
        try await read { db in try db.unfinishedJobs(queues: queues, background: background) }
    }

    package func status() async throws(StoreError) -> StatusReport {
        try await read { db in try db.status() }
    }

    package func batch(_ name: String) async throws(StoreError) -> BatchReport {
        try await read { db in try db.batch(name) as BatchReport }
    }

    package func batches(before cursor: Int64?, limit: Int) async throws(StoreError) -> BatchPage {
        // Counting large batches takes long.
        try await readApart { db in try db.batches(before: cursor, limit: limit) }
    }

    package func stopWorker(_ id: String, _ stop: WorkerStop) async throws(StoreError) -> StatusReport.Worker {
        try await commit { db in try db.stop(worker: id, stop) }
    }

    package func thumbnail(_ id: ThumbnailID) async throws(StoreError) -> Thumbnail {
        try await read { db in
            guard let thumbnail = try db.thumbnail(id) else {
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
