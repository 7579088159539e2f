package import CameoModel
package import CameoQueue
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    /// Those of the blobs whose bytes are not there or, if they are verified, do not match their digest.
    package func damaged(_ blobs: Set<SourcePage.Blob>, verifying: Bool) async throws(StoreError) -> Set<BlobDigest> {
        var damaged: Set<BlobDigest> = []
        if verifying {
            for blob in blobs where try await !isWhole(blob.digest) { damaged.insert(blob.digest) }
        } else if let storage {
            for blob in blobs where blob.isOutside {
                if try await !Self.has(blob.digest, blob.size, storage) { damaged.insert(blob.digest) }
            }
        }
        return damaged
    }

    /// Whether a storage has the bytes, of which it is asked for one.
    private static func has(
        _ digest: BlobDigest,
        _ size: Int,
        _ storage: any ByteStorage
    ) async throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try await storage.data(of: digest, range: 0..<min(1, size), size: size).count == min(1, size)
        } catch {
            switch error {
            case .notFound, .damagedBlob: return false
            default: throw error
            }
        }
    }
}
