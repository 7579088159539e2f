internal import CameoModel
internal import CameoStore
internal import GRDB

// How a check and a repair walk over blobs and their files.
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
                    db,
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

    /// Whether a blob's bytes are there and have its digest; true too for one that was collected since it was listed.
    func isWhole(_ digest: BlobDigest) async throws(StoreError) -> Bool {
        do throws(StoreError) {
            _ = try await data(of: digest)
            return true
        } catch {
            switch error {
            case .damagedBlob: return false
            case .notFound: return true
            default: throw error
            }
        }
    }

    /// Reads every blob.
    func survey(_ report: @Sendable (ByteProgress) -> Void) async throws(StoreError) -> BlobSurvey {
        let total = try await read { db in try Self.total("blob_bytes", db) }
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
        // One that was just being removed was there when it was listed; by now its row is gone too.
        let damaged = survey.damaged
        survey.damaged = []
        for digest in damaged where try await !isWhole(digest) { survey.damaged.append(digest) }
        return survey
    }

    /// Digests whose files lie in a folder and which no row says to be there.
    func unnamedFiles(in folder: BlobFolder) async throws(StoreError) -> [BlobDigest] {
        guard !folder.digests.isEmpty else { return [] }
        let named = try await read { db in
            try String.fetchSet(
                db,
                sql: "SELECT digest FROM blob WHERE digest >= ? AND digest < ? || 'g' AND data IS NULL",
                arguments: [folder.prefix, folder.prefix]
            )
        }
        return folder.digests.filter { !named.contains($0.hex) }
    }
}

/// What a reading of all blobs found.
struct BlobSurvey: Sendable {
    var count = 0
    /// Missing ones too.
    var damaged: [BlobDigest] = []
    /// Which, and why: what they have nobody can tell.
    var unreadable: [String] = []
}
