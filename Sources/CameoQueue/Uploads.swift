internal import CameoModel
internal import CameoStore
internal import Foundation

// DESIGN. A picture that comes by SQL lies in `upload` until a process has read it: only its digest tells its thumbnails' URIs,
// unless it has a name. A worker reads those that wait, oldest first, so that an application can show the URIs within a second; the
// one that claims such a job reads it otherwise.

/// A picture in `upload`, with its name.
struct UnreadUpload {
    let data: Data
    let key: String?
}

/// A picture that was read, and what its job asks for.
struct ReadUpload: Sendable {
    let new: NewJob
    fileprivate let blob: PreparedBlob
    fileprivate let key: CacheKey?

    /// Makes its bytes durable.
    init(_ upload: UnreadUpload, _ request: ThumbnailRequest, _ store: some QueueStore) async throws {
        let digest = BlobDigest(of: upload.data)
        key = try upload.key.map { name throws(InvalidRequest) in try CacheKey(name) }
        var request = request
        request.source = key?.uri ?? CameoURI.blob(digest).text
        new = try NewJob(request)
        blob = try await store.prepare(upload.data, digest: digest, mediaType: nil)
    }
}

extension QueueTransaction {
    /// The largest picture that is read before a worker claims its job, in bytes, and how many are read at a time.
    private static var readAhead: (bytes: Int, count: Int) { (20 * 1_048_576, 8) }

    func jobsOfUnreadUploads() throws -> [Int64] {
        try column(
            """
            SELECT upload.job_id FROM upload \(dialect.indexed(by: "upload_unread")) JOIN task ON task.id = upload.job_id
            WHERE data IS NOT NULL AND state <> \(JobState.running.code) AND \(dialect.lengthOfData) <= ?1
            ORDER BY upload.job_id LIMIT ?2
            """,
            [Self.readAhead.bytes, Self.readAhead.count]
        )
    }

    func unreadUpload(of job: Int64) throws -> UnreadUpload? {
        let row = try row("SELECT data, cachekey FROM upload WHERE job_id = ?1 AND data IS NOT NULL", [job])
        return try row.map { UnreadUpload(data: try $0["data"], key: try $0["cachekey"]) }
    }

    /// Moves a picture to the blobs, and returns its job's task with the key that it has now.
    func absorb(_ upload: ReadUpload, into task: TaskRow) throws -> TaskRow {
        let (new, blob) = (upload.new, upload.blob)
        try hold(blob, under: upload.key)
        // The row stays, without its bytes, to tell the producer the job's id.
        try execute("UPDATE upload SET data = NULL, digest = ?1 WHERE job_id = ?2", [blob.digest.hex, task.id])
        guard upload.key == nil else { return task }
        try need(blob.digest.hex, for: task.id)
        try execute(
            "UPDATE accepted SET unique_key = ?1, thumbnails = ?2 WHERE id = ?3",
            [new.key?.text, new.thumbnails, task.id]
        )
        try label([(new.request, new.wanted.map(\.id))])
        try promise(task.id)
        var known = task
        known.uniqueKey = new.key?.text
        return known
    }
}

extension QueueRow {
    /// What a job reads whose upload is a row with `digest` and `cachekey`; nil before it was read.
    package var sourceOfUpload: String? {
        get throws {
            guard let digest = try (self["digest"] as String?).flatMap(BlobDigest.init(hex:)) else { return nil }
            let name: String? = try self["cachekey"]
            return name.flatMap { try? CacheKey($0).uri } ?? CameoURI.blob(digest).text
        }
    }
}
