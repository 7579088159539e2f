package import CameoModel
package import Foundation

/// Immutable bytes by their digest (invariant I6).
package protocol BlobStore: AnyStore {
    /// Makes bytes durable and gives them a name. The same bytes have the same name, however often they come; the first
    /// media type that was given for them stays.
    ///
    /// - Throws: ``StoreError/full(path:)``, ``StoreError/readOnly(path:)``
    func store(_ data: Data, mediaType: String?) async throws(StoreError) -> BlobDigest
    /// A blob's bytes, verified against the digest that names them.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``, ``StoreError/damagedBlob(digest:)``,
    ///   ``StoreError/unreadableBlob(path:reason:)``
    func data(of digest: BlobDigest) async throws(StoreError) -> Data
    /// A blob's bytes for a reader who takes them piece by piece; those of a small one at once.
    ///
    /// - Throws: as ``data(of:)-(BlobDigest)``
    func bytes(of digest: BlobDigest) async throws(StoreError) -> BlobBytes
    /// The bytes that a `cameo:` URI names now.
    func data(of uri: CameoURI) async throws(StoreError) -> Data
    /// How many bytes a `cameo:` URI names now.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``
    func size(of uri: CameoURI) async throws(StoreError) -> Int
    /// The media type that a blob was stored with; nil if nobody gave one.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``
    func mediaType(of digest: BlobDigest) async throws(StoreError) -> String?
    /// Notes that the bytes behind a name were read, to the hour (``Retention/readingStep``). Returns at once, and never
    /// fails.
    func noteReading(of uri: CameoURI)
}
