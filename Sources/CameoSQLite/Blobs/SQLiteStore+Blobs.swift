internal import CameoHTTPCache
package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation
internal import GRDB

// Blobs that a program stores directly, without a job.
extension SQLiteStore {
    // The bytes are in the store's folder, which nobody else reads.
    package func temporaryURL(
        of digest: BlobDigest,
        on terms: TemporaryURLTerms
    ) async throws(StoreError) -> TemporaryURL? { nil }

    package func temporaryURLOrigin(at endpoint: Endpoint?) -> String? { nil }
}

extension SQLiteStore {
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
}

// How a check and a repair scan blobs and their files.
extension SQLiteStore {
    private static let blobsInAPage = 500

    private func eachPageOfBlobs(
        _ body: ([(digest: BlobDigest, bytes: Int)]) async throws(StoreError) -> Void
    ) async throws(StoreError) {
        var last = ""
        while true {
            let after = last
            let page = try await read { db in
                try Row.fetchAll(
                    db.sqlite,
                    sql: "SELECT digest, size FROM blob WHERE digest > ? ORDER BY digest LIMIT ?",
                    arguments: [after, Self.blobsInAPage]
                )
                .map { row in (hex: row["digest"] as String, bytes: row["size"] as Int) }
            }
            guard let end = page.last else { return }
            last = end.hex
            try await body(page.compactMap { row in BlobDigest(hex: row.hex).map { ($0, row.bytes) } })
        }
    }

    /// Reads and verifies every blob.
    func survey(_ report: @Sendable (ByteProgress) -> Void) async throws(StoreError) -> BlobSurvey {
        let total = try await read { db in try db.totals()["blob_bytes"] ?? 0 }
        var (survey, done) = (BlobSurvey(), 0)
        try await eachPageOfBlobs { page throws(StoreError) in
            survey.count += page.count
            for (digest, bytes) in page {
                do throws(StoreError) {
                    if try await !isWhole(digest) { survey.damaged.append(digest) }
                } catch {
                    guard case .unreadableBlob = error else { throw error }
                    survey.unreadable.append(error.description)
                }
                done += bytes
                report(ByteProgress(done: done, total: max(total, done)))
            }
        }
        // Checks again: the row of a blob that was being removed when it was listed is gone by now.
        let damaged = survey.damaged
        survey.damaged = []
        for digest in damaged where try await !isWhole(digest) { survey.damaged.append(digest) }
        return survey
    }

    /// Digests that have a file in a folder but no row that references the file.
    func orphanedFiles(in folder: BlobFolder) async throws(StoreError) -> [BlobDigest] {
        guard !folder.digests.isEmpty else { return [] }
        let named = try await read { db in
            try String.fetchSet(
                db.sqlite,
                sql: "SELECT digest FROM blob WHERE digest >= ? AND digest < ? || 'g' AND data IS NULL",
                arguments: [folder.prefix, folder.prefix]
            )
        }
        return folder.digests.filter { !named.contains($0.hex) }
    }
}

struct BlobSurvey: Sendable {
    var count = 0
    /// Damaged or missing blobs.
    var damaged: [BlobDigest] = []
    /// Blobs that could not be read, with the reasons.
    var unreadable: [String] = []
}
