package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
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
