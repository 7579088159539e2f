internal import CameoHTTPCache
package import CameoModel
package import CameoQueue
package import CameoStore
package import Foundation

// DESIGN. Bytes up to 100 KiB are in their row. Larger ones are in the storage that the store was opened with or, without
// one, in their row too. Bytes are durable before the transaction that references them (invariant I2): the row, without
// bytes and noted as an orphan, is committed first, then the storage gets the bytes, then they are referenced. So
// whatever a crash leaves is found by the collection of blobs, which locks the row while it removes the bytes: of a put
// and a removal of one digest, one waits for the other.
extension PostgreSQLStore {
    /// The largest blob kept in the database if there is a storage, in bytes.
    static let inlineLimit = 100 * 1_024

    /// Makes bytes durable unless they go into their row: small ones, and those of a store whose storage is another's.
    package func prepare(_ data: Data, digest: BlobDigest, mediaType: String?) async throws(StoreError) -> PreparedBlob
    {
        guard let storage, data.count > Self.inlineLimit, try await ownsBytes() else {
            return PreparedBlob(digest: digest, size: data.count, data: data, mediaType: mediaType)
        }
        let blob = PreparedBlob(digest: digest, size: data.count, data: nil, mediaType: mediaType)
        try await commit(.begun) { db in
            // Renews the age of an existing row, which protects it from collection.
            try blob.announce(db)
        }
        try await storage.put(data, as: digest, mediaType: mediaType, existing: .replaced)
        return blob
    }

    package func outsideData(of digest: BlobDigest, size: Int, inParts: Bool) async throws(StoreError) -> Data {
        do throws(StoreError) {
            let storage = try bytesStorage(for: digest)
            return inParts
                ? try await storage.dataInParts(of: digest, size: size) : try await storage.data(of: digest, size: size)
        } catch .notFound {
            throw .damagedBlob(digest: digest.description, isMissing: true)
        }
    }

    package func outsideBytes(of digest: BlobDigest, size: Int) async throws(StoreError) -> BlobBytes {
        do throws(StoreError) {
            return try await bytesStorage(for: digest).bytes(of: digest, size: size)
        } catch .notFound {
            throw .damagedBlob(digest: digest.description, isMissing: true)
        }
    }

    package func temporaryURL(
        of digest: BlobDigest,
        on terms: TemporaryURLTerms
    ) async throws(StoreError) -> TemporaryURL? {
        guard let storage else { return nil }
        let look = "SELECT data IS NULL FROM blob WHERE digest = $1 AND \(isShown)"
        let isOutside: Bool? = try await read { db in try db.value(look, [digest.hex]) }
        guard let isOutside else { throw .notFound(uri: CameoURI.blob(digest).text) }
        guard isOutside else { return nil }
        return try await storage.temporaryURL(of: digest, on: terms)
    }

    package func temporaryURLOrigin(at endpoint: Endpoint?) -> String? { storage?.temporaryURLOrigin(at: endpoint) }

    func bytesStorage(for digest: BlobDigest) throws(StoreError) -> any ByteStorage {
        guard let storage else {
            let reason = "its bytes are in a storage of large blobs, and this program was told of none"
            throw .unreadableBlob(path: CameoURI.blob(digest).text, reason: reason)
        }
        return storage
    }

    package func missing(_ blobs: Set<SourcePage.Blob>) async throws(StoreError) -> Set<BlobDigest> {
        var missing: Set<BlobDigest> = []
        guard let storage else { return missing }
        for blob in blobs where try await !Self.has(blob.digest, blob.size, storage) { missing.insert(blob.digest) }
        return missing
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
