internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation

extension SQLiteStore {
    package func knownSources(
        _ selection: KnownSourceSelection,
        after cursor: String?,
        limit: Int
    ) async throws(StoreError) -> KnownSourcePage {
        let page = try await read { db in try SourcePage(selection, after: cursor, limit: limit, db) }
        return page.page(damaged: try await damaged(page.blobs, verifying: selection.verifiesBytes))
    }

    /// Those of the blobs whose bytes are not there or, if they are verified, do not match their digest.
    private func damaged(_ blobs: Set<SourcePage.Blob>, verifying: Bool) async throws(StoreError) -> Set<BlobDigest> {
        guard verifying else {
            let inFiles = blobs.filter(\.isOutside)
            guard !inFiles.isEmpty else { return [] }
            return try await files.perform { directory in
                Set(
                    inFiles.filter { blob in
                        var status = stat()
                        return stat(directory.blobFile(blob.digest), &status) != 0 || Int(status.st_size) != blob.size
                    }
                    .map(\.digest)
                )
            }
        }
        var damaged: Set<BlobDigest> = []
        for blob in blobs where try await !isWhole(blob.digest) { damaged.insert(blob.digest) }
        return damaged
    }
}
