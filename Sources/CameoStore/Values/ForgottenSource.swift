/// What was forgotten of a source.
public struct ForgottenSource: Hashable, Sendable {
    /// Cached answers, of all credentials.
    public let originals: Int
    /// Failures that were remembered.
    public let failures: Int
    /// Thumbnails whose names stand for nothing now.
    public let thumbnails: Int
    /// Of the cached answers.
    public let bytes: Int

    package init(originals: Int, failures: Int, thumbnails: Int, bytes: Int) {
        self.originals = originals
        self.failures = failures
        self.thumbnails = thumbnails
        self.bytes = bytes
    }

    package var isNothing: Bool { originals == 0 && failures == 0 && thumbnails == 0 }
}

/// How much is forgotten with a source.
public enum ForgottenExtent: Sendable {
    /// What was fetched; the thumbnails stay.
    case originals
    /// Also every thumbnail that was made of it: their URIs stand for nothing until they are made anew.
    case originalsAndThumbnails
}
