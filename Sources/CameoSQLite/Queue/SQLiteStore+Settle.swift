package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    /// Stores thumbnails and completion atomically (invariant I2).
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    package func complete(
        _ claim: Claim,
        storing thumbnails: [RenderedThumbnail],
        from provenance: Provenance,
        timings: AttemptTimings
    ) async throws(StoreError) {
        let started = ContinuousClock.now
        var prepared: [(thumbnail: RenderedThumbnail, blob: PreparedBlob)] = []
        for thumbnail in thumbnails {
            let digest = SHA256.digest(of: thumbnail.encoded.bytes)
            let type = thumbnail.encoded.format.mediaType
            let blob = try await files.prepare(thumbnail.encoded.bytes, digest: digest, mediaType: type)
            prepared.append((thumbnail, blob))
        }
        let (blobs, files) = (prepared, files)
        do throws(StoreError) {
            try await commitCounting { db in
                var timings = timings
                timings.storeMilliseconds = started.duration(to: .now).milliseconds
                try db.complete(claim, timings: timings)
                for (thumbnail, blob) in blobs {
                    try Self.store(thumbnail, blob, from: provenance, jobID: claim.jobID, files, in: db)
                }
                KillPoint.insideTransaction.pass()
            }
        } catch {
            if case .leaseLost = error { await leaveToCollector(blobs.map(\.blob)) }
            throw error
        }
        KillPoint.afterCommit.pass()
    }

    /// Gives rows to files that no job will reference, so that collection finds them. Best effort: a check finds them
    /// too.
    private func leaveToCollector(_ blobs: [PreparedBlob]) async {
        let files = blobs.filter { $0.data == nil }
        guard !files.isEmpty else { return }
        try? await commit(.begun) { db in
            for blob in files { try blob.leave(db) }
        }
    }
}
