package import CameoModel

/// A program's own name for an uploaded picture. Its thumbnails keep their URIs when new bytes are uploaded under the
/// key, and are made again.
package struct CacheKey: Hashable, Sendable {
    package static let maximumBytes = 2_048
    /// Schemes that are reserved for sources in this or a future version.
    private static let schemes = SourceScheme.allCases.map(\.rawValue) + ["ftp", "s3"]

    package let text: String

    /// Accepts 1 to 2048 bytes without control characters that do not begin with a source's scheme.
    package init(_ text: String) throws(InvalidRequest) {
        func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: "cacheKey", reason: reason) }
        guard (1...Self.maximumBytes).contains(text.utf8.count) else {
            throw refuse("must have 1 to \(Self.maximumBytes) bytes, not \(text.utf8.count)")
        }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw refuse("has a control character")
        }
        if let scheme = URIScheme.of(text), Self.schemes.contains(scheme) {
            throw refuse("must not begin with \(scheme):, which is a scheme of sources")
        }
        self.text = text
    }

    /// The URI used as a job's source.
    package var uri: String { CameoURI.source(text).text }
}

/// The bytes for which existing thumbnails are still valid, and when they were seen.
package struct Revalidation: Hashable, Sendable {
    package let sourceDigest: BlobDigest
    /// The digest of each thumbnail's overlay, in order; nil for a thumbnail without one.
    package let overlayDigests: [BlobDigest?]
    package let sourceSeen: Int64
    package let rendererVersion: String

    package init(sourceDigest: BlobDigest, overlayDigests: [BlobDigest?], sourceSeen: Int64, rendererVersion: String) {
        (self.sourceDigest, self.overlayDigests, self.sourceSeen) = (sourceDigest, overlayDigests, sourceSeen)
        self.rendererVersion = rendererVersion
    }
}

/// The store's record of the start of a fetch.
package struct BegunFetch: Hashable, Sendable {
    /// Orders fetches across all workers: a thumbnail from an older fetch never replaces one from a newer (invariant
    /// I4).
    package let sourceSeen: Int64
    /// The number of the last fetch that had begun when the job was requested: it may share only later ones (invariant
    /// I5).
    package let after: Int64
    /// Whether the job was never claimed before, not even before an operator's retry.
    package let isFirstAttempt: Bool

    package init(sourceSeen: Int64, after: Int64, isFirstAttempt: Bool) {
        (self.sourceSeen, self.after, self.isFirstAttempt) = (sourceSeen, after, isFirstAttempt)
    }
}

/// The result of keeping an answer.
package enum KeptSource: Hashable, Sendable {
    case kept
    /// The answer of a newer fetch is already kept.
    case superseded
    /// The answer alone exceeds the budget.
    case tooLarge
}

/// Counts of what was removed for a source.
public struct ForgottenSource: Hashable, Sendable {
    /// Cached answers, for all credentials.
    public let originals: Int
    /// Remembered failures.
    public let failures: Int
    /// Thumbnails whose URIs no longer resolve.
    public let thumbnails: Int
    /// The bytes of the cached answers.
    public let bytes: Int

    package init(originals: Int, failures: Int, thumbnails: Int, bytes: Int) {
        (self.originals, self.failures, self.thumbnails, self.bytes) = (originals, failures, thumbnails, bytes)
    }

    package var isNothing: Bool { originals == 0 && failures == 0 && thumbnails == 0 }
}

/// What to remove with a source.
public enum ForgottenExtent: Sendable {
    /// Fetched originals; thumbnails are kept.
    case originals
    /// Originals and every thumbnail made from them, whose URIs do not resolve until they are made again.
    case originalsAndThumbnails
}
