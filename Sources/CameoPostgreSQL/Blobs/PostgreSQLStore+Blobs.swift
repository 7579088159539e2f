internal import CameoHTTPCache
package import CameoModel
internal import CameoQueue
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
    func prepare(_ data: Data, digest: BlobDigest, mediaType: String?) async throws(StoreError) -> PreparedBlob {
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

    package func store(_ data: Data, mediaType: String?) async throws(StoreError) -> BlobDigest {
        let digest = SHA256.digest(of: data)
        guard writes != nil else { throw .readOnly(path: location) }
        let blob = try await prepare(data, digest: digest, mediaType: mediaType)
        try await commit { db in
            try blob.insert(db)
            // A pinned blob needs no reference. An earlier upload of the same bytes may have given no media type.
            try db.execute(
                "UPDATE blob SET pinned = true, media_type = coalesce(media_type, $1) WHERE digest = $2",
                [mediaType, digest.hex]
            )
        }
        return digest
    }

    package func mediaType(of digest: BlobDigest) async throws(StoreError) -> String? {
        try await read { db in
            guard let row = try db.row("SELECT media_type FROM blob WHERE digest = $1", [digest.hex]) else {
                throw StoreError.notFound(uri: CameoURI.blob(digest).text)
            }
            return try row[0]
        }
    }

    package func data(of digest: BlobDigest) async throws(StoreError) -> Data {
        let row = try await row(of: digest)
        guard let data = row.data else {
            do throws(StoreError) {
                return try await bytesStorage(for: digest).data(of: digest, size: row.size)
            } catch {
                throw Self.isMissing(error) ? .damagedBlob(digest: digest.description) : error
            }
        }
        guard SHA256.digest(of: data) == digest else { throw .damagedBlob(digest: digest.description) }
        return data
    }

    package func bytes(of digest: BlobDigest) async throws(StoreError) -> BlobBytes {
        let row = try await row(of: digest)
        guard let data = row.data else {
            do throws(StoreError) {
                return try await bytesStorage(for: digest).bytes(of: digest, size: row.size)
            } catch {
                throw Self.isMissing(error) ? .damagedBlob(digest: digest.description) : error
            }
        }
        guard SHA256.digest(of: data) == digest else { throw .damagedBlob(digest: digest.description) }
        return .inMemory(data)
    }

    package func data(of uri: CameoURI) async throws(StoreError) -> Data {
        try await data(of: try await digest(of: uri))
    }

    package func size(of uri: CameoURI) async throws(StoreError) -> Int {
        let digest = try await digest(of: uri)
        return try await read { db in
            guard let size: Int = try db.value("SELECT size FROM blob WHERE digest = $1", [digest.hex]) else {
                throw StoreError.notFound(uri: uri.text)
            }
            return size
        }
    }

    package func temporaryURL(
        of digest: BlobDigest,
        on terms: TemporaryURLTerms
    ) async throws(StoreError) -> TemporaryURL? {
        guard let storage else { return nil }
        let isOutside = try await read { db in
            guard let isOutside: Bool = try db.value("SELECT data IS NULL FROM blob WHERE digest = $1", [digest.hex])
            else { throw StoreError.notFound(uri: CameoURI.blob(digest).text) }
            return isOutside
        }
        guard isOutside else { return nil }
        return try await storage.temporaryURL(of: digest, on: terms)
    }

    package func temporaryURLOrigin(at endpoint: Endpoint?) -> String? { storage?.temporaryURLOrigin(at: endpoint) }

    /// Whether a blob's bytes exist and match its digest; also true for a blob collected since it was listed.
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

    private static func isMissing(_ error: StoreError) -> Bool {
        if case .notFound = error { true } else { false }
    }

    func bytesStorage(for digest: BlobDigest) throws(StoreError) -> any ByteStorage {
        guard let storage else {
            let reason = "its bytes are in a storage of large blobs, and this program was told of none"
            throw .unreadableBlob(path: CameoURI.blob(digest).text, reason: reason)
        }
        return storage
    }

    /// The bytes are nil of a blob in the storage of large ones.
    private func row(of digest: BlobDigest) async throws(StoreError) -> (data: Data?, size: Int) {
        try await read { db in
            guard let row = try db.row("SELECT data, size FROM blob WHERE digest = $1", [digest.hex]) else {
                throw StoreError.notFound(uri: CameoURI.blob(digest).text)
            }
            return (try row[0], try row[1])
        }
    }

    private func digest(of uri: CameoURI) async throws(StoreError) -> BlobDigest {
        switch uri {
        case .blob(let digest): digest
        case .thumbnail(let id): try await thumbnail(id).blob
        case .source(let source): try await cachedSource(source).blob
        }
    }
}
