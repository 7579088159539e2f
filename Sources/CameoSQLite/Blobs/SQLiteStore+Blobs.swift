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

extension SQLiteStore {
    /// Digests that have a file in a folder but no row that references the file.
    func orphanedFiles(in folder: BlobFolder) async throws(StoreError) -> [BlobDigest] {
        guard !folder.digests.isEmpty else { return [] }
        let look = "SELECT digest FROM blob WHERE digest >= ?1 AND digest < ?1 || 'g' AND data IS NULL"
        let named: [String] = try await read { db in try db.column(look, [folder.prefix]) }
        let known = Set(named)
        return folder.digests.filter { !known.contains($0.hex) }
    }
}
