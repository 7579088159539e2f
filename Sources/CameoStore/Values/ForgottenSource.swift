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

    /// Whether thumbnails of it were removed, now or before.
    package var hadThumbnails = false

    package init(originals: Int, failures: Int, thumbnails: Int, bytes: Int) {
        (self.originals, self.failures, self.thumbnails, self.bytes) = (originals, failures, thumbnails, bytes)
    }

    package var isNothing: Bool { originals == 0 && failures == 0 && thumbnails == 0 && !hadThumbnails }
}

/// What to remove with a source.
public enum ForgottenExtent: Sendable {
    /// Fetched originals; thumbnails are kept.
    case originals
    /// Originals and every thumbnail made from them, whose URIs do not resolve until they are made again.
    case originalsAndThumbnails
}
