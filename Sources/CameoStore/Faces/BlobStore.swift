package import CameoModel
package import Foundation

/// Access to immutable bytes by their digest (invariant I6).
package protocol BlobStore: AnyStore {
    /// Stores bytes durably and returns their digest. Storing the same bytes again returns the same digest and keeps
    /// the first media type.
    ///
    /// - Throws: ``StoreError/full(path:)``, ``StoreError/readOnly(path:)``
    func store(_ data: Data, mediaType: String?) async throws(StoreError) -> BlobDigest
    /// A blob's bytes, verified against their digest.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``, ``StoreError/damagedBlob(digest:)``,
    ///   ``StoreError/unreadableBlob(path:reason:)``
    func data(of digest: BlobDigest) async throws(StoreError) -> Data
    /// A blob's bytes for a reader that takes them piece by piece; a small blob comes at once.
    ///
    /// - Throws: as ``data(of:)-(BlobDigest)``
    func bytes(of digest: BlobDigest) async throws(StoreError) -> BlobBytes
    /// The bytes that a `cameo:` URI currently names.
    func data(of uri: CameoURI) async throws(StoreError) -> Data
    /// The size of the bytes that a `cameo:` URI currently names.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``
    func size(of uri: CameoURI) async throws(StoreError) -> Int
    /// The media type that a blob was stored with; nil if none was given.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``
    func mediaType(of digest: BlobDigest) async throws(StoreError) -> String?
    /// A URL from which anyone can read a blob's bytes without the store, unverified, until it expires
    /// (``ByteStorage/temporaryURL(of:on:)``).
    ///
    /// - Returns: the URL; nil if the bytes are in the store itself, where small ones always are.
    /// - Throws: ``StoreError/notFound(uri:)``, except for a store that has no such URLs.
    func temporaryURL(of digest: BlobDigest, on terms: TemporaryURLTerms) async throws(StoreError) -> TemporaryURL?
    /// The scheme, host and port of all temporary URLs at an endpoint, or at the storage's own; nil if the store has none.
    func temporaryURLOrigin(at endpoint: Endpoint?) -> String?
    /// Records that a URI was read, to the hour (``Retention/readingStep``). Returns at once and never fails.
    func noteReading(of uri: CameoURI)
}
