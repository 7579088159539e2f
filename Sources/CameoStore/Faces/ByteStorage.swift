package import CameoModel
package import CameoSystem
package import Foundation

// DESIGN. An engine for fleets keeps large bytes beside its database, in a place that all hosts reach. Such a place has no
// transactions. What holds the invariants together is their order (I2, I6): bytes are durable before the transaction that
// names them, and the engine decides in its database which bytes nothing names any more before it removes them. An
// overlapping ``put(_:as:mediaType:existing:)`` and ``remove(_:)`` of one digest may take effect in either order, so an
// engine does not let them overlap: a put is announced in the database first, and a removal gives way to it.

/// Immutable bytes by their digest, outside of an engine's database and shared by all its hosts.
///
/// Every call may throw ``StoreError/unreachable(location:reason:)``, after which trying again later may succeed, and
/// ``StoreError/denied(location:reason:)``, which only a change of configuration or permissions mends. Calls can be made
/// from any task, do not block its thread, and end early with `unreachable` if their task is cancelled.
package protocol ByteStorage: Sendable {
    /// The name of the storage, without secrets.
    var location: String { get }

    /// Stores bytes durably. Of several puts of one digest at a time one wins and the others find its bytes, or, where the
    /// storage cannot tell, each writes the same bytes. Empty ones are valid; `digest` is the SHA-256 of exactly these, and
    /// `mediaType` describes them to readers of a ``temporaryURL(of:on:)``, where nil is `application/octet-stream`.
    ///
    /// - Throws: ``StoreError/full(path:)``, ``StoreError/readOnly(path:)``
    @discardableResult
    func put(_ data: Data, as digest: BlobDigest, mediaType: String?, existing: ExistingBytes)
        async throws(StoreError) -> PutResult
    /// All bytes, verified against their digest. `size` is their number, as the engine's database has it; a different number
    /// is damage, and is not read into memory.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``, ``StoreError/damagedBlob(digest:isMissing:)``,
    ///   ``StoreError/unreadableBlob(path:reason:)``
    func data(of digest: BlobDigest, size: Int) async throws(StoreError) -> Data
    /// The same by a way on which what stands before the storage may answer otherwise: by ranges, over new connections.
    func dataInParts(of digest: BlobDigest, size: Int) async throws(StoreError) -> Data
    /// A part of the bytes, within `0..<size`, which cannot be verified by itself.
    ///
    /// - Throws: as ``data(of:size:)``
    func data(of digest: BlobDigest, range: Range<Int>, size: Int) async throws(StoreError) -> Data
    /// All bytes for a reader that takes them piece by piece: small ones from memory, verified; others from a file, which
    /// the reader has to verify.
    ///
    /// - Throws: as ``data(of:size:)``
    func bytes(of digest: BlobDigest, size: Int) async throws(StoreError) -> BlobBytes
    /// Removes the bytes; does nothing if they are not there.
    func remove(_ digest: BlobDigest) async throws(StoreError)
    /// What is stored, in the order of the digests: a page, which may be empty and still have a next one. The cursor is the
    /// ``StoredObjectPage/next`` of the page before, nil for the first page, and stays valid whatever is stored or removed
    /// meanwhile. Up to `limit` names are examined, 1 to 1,000.
    func list(after cursor: String?, limit: Int) async throws(StoreError) -> StoredObjectPage
    /// The mark of the store that owns the bytes; nil if none has left one.
    func owner() async throws(StoreError) -> String?
    /// Leaves the mark of a store, durably. Of several at a time one wins, or, where the storage cannot tell, the last.
    /// The mark is a line of text.
    ///
    /// - Throws: as ``put(_:as:mediaType:existing:)``
    func setOwner(_ mark: String, existing: ExistingBytes) async throws(StoreError)
    /// Removes what puts left that were broken off before a time, and returns its number. No reader ever sees it.
    func removeUnfinished(before time: Date) async throws(StoreError) -> Int
    /// A URL from which anyone can read the bytes, unverified, until it expires. Calls on the same terms return the same URL
    /// for a while, so that caches have its answer. Whether the bytes exist is not checked. Nil if the storage has none.
    func temporaryURL(of digest: BlobDigest, on terms: TemporaryURLTerms) async throws(StoreError) -> TemporaryURL?
    /// The scheme, host and port of all temporary URLs at an endpoint, or at the storage's own; nil if the storage has none.
    func temporaryURLOrigin(at endpoint: Endpoint?) -> String?
    /// Ends all transfers and releases connections and threads. Nothing may be called afterwards.
    func close()
}

extension ByteStorage {
    /// For files, which each read opens anew.
    package func dataInParts(of digest: BlobDigest, size: Int) async throws(StoreError) -> Data {
        try await data(of: digest, size: size)
    }
}

/// Bytes in a ``ByteStorage``, as its listing describes them.
package struct StoredObject: Hashable, Sendable {
    package let digest: BlobDigest
    /// The number of bytes.
    package let size: Int
    /// When they were last written, by the storage's clock.
    package let storedAt: Date

    package init(digest: BlobDigest, size: Int, storedAt: Date) {
        (self.digest, self.size, self.storedAt) = (digest, size, storedAt)
    }
}

/// A page of what is in a ``ByteStorage``.
package struct StoredObjectPage: Hashable, Sendable {
    package var objects: [StoredObject] = []
    /// Other names found in the storage's place, which Cameo did not write and never touches.
    package var foreign: [String] = []
    /// The cursor of the next page; nil after the last.
    package var next: String?

    package init() {}
}

/// What a put of bytes found.
package enum PutResult: Hashable, Sendable {
    /// The bytes were written.
    case stored
    /// Bytes were already there, and were left as they are.
    case existed
}

/// What a put does with bytes that are already stored under the digest.
package enum ExistingBytes: Sendable {
    /// They stay as they are, unread, with their time.
    case kept
    /// They are written again, which repairs damaged bytes and renews their time. A reader sees the old or the new bytes.
    case replaced
}

/// A blob's bytes, in memory or in a file that the reader reads piece by piece.
package enum BlobBytes: Sendable {
    /// The bytes, already verified against their digest.
    case inMemory(Data)
    /// An open file of `count` bytes, to be read by position. The reader must verify the bytes against their digest.
    case file(OpenFile, count: Int)
}

/// A URL from which anyone can read bytes until it expires. It is a secret like a password.
package struct TemporaryURL: Hashable, Sendable {
    package let text: String
    /// How long it is still valid.
    package let remaining: Duration

    package init(text: String, remaining: Duration) {
        (self.text, self.remaining) = (text, remaining)
    }
}

/// What a ``TemporaryURL`` permits, and for how long.
package struct TemporaryURLTerms: Hashable, Sendable {
    package enum Method: Sendable {
        case get, head
    }

    /// The only method that the URL answers.
    package var method = Method.get
    /// The `Content-Type` of the answer; nil for the one that the bytes were stored with.
    package var mediaType: String?
    /// How long a URL is valid at most, a second to seven days. Half of that is left when it is made, unless the credentials
    /// of the storage end before.
    package var lifetime: Duration
    /// The server in the URL; nil for the one that the storage itself is reached by.
    package var endpoint: Endpoint?

    package init(
        method: Method = .get,
        mediaType: String? = nil,
        lifetime: Duration,
        endpoint: Endpoint? = nil
    ) {
        (self.method, self.mediaType, self.lifetime, self.endpoint) = (method, mediaType, lifetime, endpoint)
    }
}
