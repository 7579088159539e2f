package import CameoModel
internal import CameoQueue
package import CameoStore

extension PostgreSQLStore {
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
        // Recent changes are counted by their numbers.
        try await numberChanges()
        return try await read { db in try db.status() }
    }

    package func batch(_ name: String) async throws(StoreError) -> BatchReport {
        try await read { db in try db.batch(name) as BatchReport }
    }

    package func batches(before cursor: Int64?, limit: Int) async throws(StoreError) -> BatchPage {
        try await read { db in try db.batches(before: cursor, limit: limit) }
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
}
