package import CameoModel
package import Foundation
internal import Synchronization

// DESIGN. What a name refers to is looked up in the store for every read; only the bytes behind it may come from memory. So
// nothing is served that any process has replaced or removed, and nothing is invalidated: a digest never names other bytes.

/// The bytes of recently read blobs, the least recently read of which give way to others.
package final class BlobMemory: Sendable {
    package static let standardCapacity = 33_554_432

    private let state: Mutex<BlobMemoryState>

    /// - Parameter capacity: the maximum size in bytes; 0 holds nothing.
    package init(capacity: Int = standardCapacity) {
        state = Mutex(BlobMemoryState(use: MemoryUse(capacity: max(0, capacity))))
    }

    package var use: MemoryUse { state.withLock { $0.use } }

    /// The bytes, if they are in memory. Counts a hit or a miss.
    package func bytes(of digest: BlobDigest) -> Data? {
        state.withLock { state in
            if let blob = state.blob(digest) { return blob.data }
            state.use.misses += 1
            return nil
        }
    }

    /// The blob, if it is in memory. Counts a hit, but no miss: whoever finds nothing goes on to ask for the bytes.
    package func blob(_ digest: BlobDigest) -> HeldBlob? { state.withLock { $0.blob(digest) } }

    /// Remembers what an answer with a content said before its bytes, as long as these.
    package func note(_ fields: [(name: String, value: String)], of content: StoredContent) {
        state.withLock { $0.entries[content.digest]?.blob.head = (content, fields) }
    }

    /// Whether the bytes are in memory. Counts nothing.
    package func holds(_ digest: BlobDigest) -> Bool { state.withLock { $0.entries[digest] != nil } }

    /// Holds bytes that have been verified against their digest.
    package func hold(_ data: Data, as digest: BlobDigest) {
        state.withLock { $0.hold(HeldBlob(data: data), as: digest) }
    }

    package func empty() { state.withLock { state in while let digest = state.oldest { state.remove(digest) } } }
}

/// A blob in memory.
package struct HeldBlob: Sendable {
    package let data: Data
    /// What the last answer with it said before the bytes, and of which content.
    package internal(set) var head: (content: StoredContent, fields: [(name: String, value: String)])?
}

extension ReaderStore {
    /// A blob's bytes from memory, else from the store, which verifies them. Look up first whether a name still refers to
    /// the blob.
    ///
    /// - Throws: as ``data(of:)-(BlobDigest)``
    package func data(
        of digest: BlobDigest,
        through memory: BlobMemory
    ) async throws(StoreError) -> (data: Data, isFromMemory: Bool) {
        if let data = memory.bytes(of: digest) { return (data, true) }
        let data = try await data(of: digest)
        memory.hold(data, as: digest)
        return (data, false)
    }

    /// Does the same for a reader that takes the bytes piece by piece. A blob in a file is never held.
    package func bytes(of digest: BlobDigest, through memory: BlobMemory) async throws(StoreError) -> BlobBytes {
        if let data = memory.bytes(of: digest) { return .inMemory(data) }
        let bytes = try await bytes(of: digest)
        if case .inMemory(let data) = bytes { memory.hold(data, as: digest) }
        return bytes
    }
}

/// The blobs as a list from the most to the least recently read. A value under the lock of ``BlobMemory``.
private struct BlobMemoryState {
    struct Entry {
        var blob: HeldBlob
        var newer: BlobDigest?
        var older: BlobDigest?
    }

    /// What an entry takes beside its bytes, about.
    private static let surcharge = 256

    /// A blob larger than this share of the capacity is not held: it would displace many small ones.
    private static let largestShare = 16

    var use: MemoryUse
    var entries: [BlobDigest: Entry] = [:]
    var newest: BlobDigest?
    var oldest: BlobDigest?

    mutating func blob(_ digest: BlobDigest) -> HeldBlob? {
        guard let entry = entries[digest] else { return nil }
        use.hits += 1
        if newest != digest {
            remove(digest)
            insert(entry.blob, as: digest)
        }
        return entry.blob
    }

    mutating func hold(_ blob: HeldBlob, as digest: BlobDigest) {
        guard blob.data.count <= use.capacity / Self.largestShare else { return }
        remove(digest)
        insert(blob, as: digest)
        while use.bytes > use.capacity, let oldest { remove(oldest) }
    }

    private mutating func insert(_ blob: HeldBlob, as digest: BlobDigest) {
        entries[digest] = Entry(blob: blob, newer: nil, older: newest)
        if let newest { entries[newest]?.newer = digest } else { oldest = digest }
        newest = digest
        use.blobs += 1
        use.bytes += blob.data.count + Self.surcharge
    }

    mutating func remove(_ digest: BlobDigest) {
        guard let entry = entries.removeValue(forKey: digest) else { return }
        if let newer = entry.newer { entries[newer]?.older = entry.older } else { newest = entry.older }
        if let older = entry.older { entries[older]?.newer = entry.newer } else { oldest = entry.newer }
        use.blobs -= 1
        use.bytes -= entry.blob.data.count + Self.surcharge
    }
}
