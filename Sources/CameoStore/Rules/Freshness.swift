package import CameoModel

/// What the store knows, without asking anybody, of the bytes behind a request.
package enum Freshness {
    /// The request does not care.
    case unasked
    /// They are named by what they are.
    case unchanging
    /// A cached answer that is fresh now says that they are these.
    case cached(BlobDigest)
    case unknown

    /// Whether nothing newer could be made than this thumbnail.
    package func holds(for thumbnail: Thumbnail) -> Bool {
        switch self {
        case .unasked, .unchanging: true
        case .cached(let digest): thumbnail.sourceDigest == digest
        case .unknown: false
        }
    }
}
