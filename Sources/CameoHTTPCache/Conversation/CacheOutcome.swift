package import CameoModel

/// How a request ended.
package enum CacheOutcome: Hashable, Sendable {
    /// A stored response is served; its body has been read.
    case stored(CachedSource, StoredResponseUse)
    /// The last received response is passed on.
    case received
    case failed(CacheFailure)
}

/// Why a stored response is served.
package enum StoredResponseUse: Hashable, Sendable {
    /// No validation was needed. `age` is computed by RFC 9111, section 4.2.3.
    case fresh(age: Duration)
    /// The server responded with 304. The head is the updated one for this requester; less of it may be stored.
    case validated(CacheableResponse)
    /// It is stale, and may be served if the driver refreshes it behind the request's back: by a request of its own that
    /// uses only what is ``CacheUse/validated``.
    case refreshing(age: Duration)
    /// It is stale, and the server is unreachable or reported an error.
    case stale(age: Duration)
}

/// Why there is no response.
package enum CacheFailure: Hashable, Sendable {
    /// Nothing is stored, and the request accepts nothing else (``CacheUse/only``).
    case nothingStored
    /// Nothing stored may be served, and the request says `only-if-cached` (RFC 9111, section 5.2.1.7).
    case onlyIfCached
    /// No response arrived.
    case unreachable
    case redirect(RedirectRefusal)
}

/// A change to the stored responses, to be made before the outcome is passed on.
package enum CacheChange: Hashable, Sendable {
    /// Store the received response.
    case store(CachedSource)
    /// Give a stored body a new head and number.
    case freshen(CachedSource)
    case drop(CachedSource)
    /// Remove all responses stored under a URI, whatever credentials they were requested with: an unsafe request may have
    /// changed the resource (RFC 9111, section 4.4).
    case invalidate(uri: String)
}

/// A received body, after content decoding.
package struct ReceivedBody: Hashable, Sendable {
    package let blob: BlobDigest
    package let bytes: Int

    package init(blob: BlobDigest, bytes: Int) {
        self.blob = blob
        self.bytes = bytes
    }
}
