package import CameoModel

/// What the store knows about a source's bytes without contacting its server.
package enum Freshness {
    /// The request does not care.
    case unasked
    /// The bytes cannot change, because their name identifies them.
    case unchanging
    /// A cached answer that is still fresh has these bytes.
    case cached(BlobDigest)
    case unknown

    /// Whether a thumbnail is known to be current.
    package func holds(for thumbnail: Thumbnail) -> Bool {
        switch self {
        case .unasked, .unchanging: true
        case .cached(let digest): thumbnail.sourceDigest == digest
        case .unknown: false
        }
    }
}
