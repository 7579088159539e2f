package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    package func complete(_ claim: Claim, with product: JobProduct, timings: AttemptTimings) async throws(StoreError) {
        switch product {
        case .rendered(let thumbnails, let provenance):
            try await complete(claim, storing: thumbnails, from: provenance, timings: timings)
        case .kept(let thumbnails, let seen):
            try await complete(claim, keeping: thumbnails, seen: seen, timings: timings)
        }
    }

    /// Stores thumbnails and completion atomically (invariant I2).
    private func complete(
        _ claim: Claim,
        storing thumbnails: [RenderedThumbnail],
        from provenance: Provenance,
        timings: AttemptTimings
    ) async throws(StoreError) {
        let started = ContinuousClock.now
        var prepared: [(thumbnail: RenderedThumbnail, blob: PreparedBlob)] = []
        for thumbnail in thumbnails {
            let bytes = thumbnail.encoded.bytes
            let type = thumbnail.encoded.format.mediaType
            let blob = try await prepare(bytes, digest: SHA256.digest(of: bytes), mediaType: type)
            prepared.append((thumbnail, blob))
        }
        let blobs = prepared
        let measured: @Sendable () -> AttemptTimings = {
            var measured = timings
            measured.storeMilliseconds = started.duration(to: .now).milliseconds
            return measured
        }
        // Whether bytes outside of the database are sound cannot be found out inside the transaction.
        var checked: [BlobDigest: Bool] = [:]
        let use: ClaimUse = storage == nil ? .completes(claim, timings: measured) : .holds(claim)
        while true {
            let known = checked
            let unknown = try await settle(use) { db -> [BlobDigest] in
                // Of two jobs of a group for the same thumbnail, the first one's stands.
                if db.isStoring(blobs.map(\.thumbnail.id)) { try db.flush() }
                let same = try SameThumbnails(blobs.map(\.thumbnail), provenance, known, db)
                if let first = same.unknown.first {
                    // Without a storage, the job has been completed beforehand, and this throws.
                    _ = try self.bytesStorage(for: first)
                    return same.unknown
                }
                try db.complete(claim, timings: measured())
                try db.store(blobs, renewing: same.sound, from: provenance, jobID: claim.jobID)
                return []
            }
            if unknown.isEmpty { return }
            for digest in unknown { checked[digest] = try await isWhole(digest) }
        }
    }
}
