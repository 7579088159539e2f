internal import CameoStore

/// What ``Client/forget(_:_:)`` removed.
public struct Forgotten: Hashable, Sendable {
    /// How much is forgotten with a source.
    public enum Extent: Sendable {
        /// Its cached originals; the thumbnails stay.
        case originals
        /// Also every thumbnail that was made of it: their URIs stand for nothing until they are made anew.
        case originalsAndThumbnails

        var model: ForgottenExtent {
            switch self {
            case .originals: .originals
            case .originalsAndThumbnails: .originalsAndThumbnails
            }
        }
    }

    /// Cached originals, of all credentials.
    public let originals: Int
    /// Bytes of these.
    public let bytes: Int
    /// Thumbnails whose names stand for nothing now.
    public let thumbnails: Int

    init(_ forgotten: ForgottenSource) {
        originals = forgotten.originals
        bytes = forgotten.bytes
        thumbnails = forgotten.thumbnails
    }
}
