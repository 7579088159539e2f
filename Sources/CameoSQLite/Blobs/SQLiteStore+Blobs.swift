internal import CameoHTTPCache
package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation

// Blobs that a program stores directly, without a job.
extension SQLiteStore {
    // The bytes are in the store's folder, which nobody else reads.
    package func temporaryURL(
        of digest: BlobDigest,
        on terms: TemporaryURLTerms
    ) async throws(StoreError) -> TemporaryURL? { nil }

    package func temporaryURLOrigin(at endpoint: Endpoint?) -> String? { nil }

    package func outsideData(of digest: BlobDigest, size: Int) async throws(StoreError) -> Data {
        let data = try await files.read(digest)
        guard SHA256.digest(of: data) == digest else { throw .damagedBlob(digest: digest.description) }
        return data
    }

    package func outsideBytes(of digest: BlobDigest, size: Int) async throws(StoreError) -> BlobBytes {
        .file(try await files.file(of: digest, size: size), count: size)
    }

    /// Digests that have a file in a folder but no row that references the file.
    func orphanedFiles(among digests: [BlobDigest], in prefix: String) async throws(StoreError) -> [BlobDigest] {
        guard !digests.isEmpty else { return [] }
        let look = "SELECT digest FROM blob WHERE digest >= ?1 AND digest < ?1 || 'g' AND data IS NULL"
        let named: [String] = try await read { db in try db.column(look, [prefix]) }
        let known = Set(named)
        return digests.filter { !known.contains($0.hex) }
    }
}
