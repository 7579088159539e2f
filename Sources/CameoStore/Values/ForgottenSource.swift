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
        self.originals = originals
        self.failures = failures
        self.thumbnails = thumbnails
        self.bytes = bytes
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
