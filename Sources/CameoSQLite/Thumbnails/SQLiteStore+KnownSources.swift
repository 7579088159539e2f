package import CameoModel
package import CameoQueue
package import CameoStore
internal import Foundation

extension SQLiteStore {
    /// Those of the blobs whose bytes are not there or, if they are verified, do not match their digest.
    package func damaged(_ blobs: Set<SourcePage.Blob>, verifying: Bool) async throws(StoreError) -> Set<BlobDigest> {
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
