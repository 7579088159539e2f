package import Foundation

/// A picture whose bytes are in the source itself: a `data:` URI, or bare base64.
package struct InlinePicture: Hashable, Sendable {
    /// The media type that a `data:` URI declares; see ``DataURI/mediaType``.
    package let mediaType: String?
    package let bytes: Data

    /// Whether a source looks like an inline picture. It may still be malformed.
    package static func isIn(_ source: String) -> Bool { DataURI.isDataURI(source) || PlainBase64.matches(source) }

    package init(parsing source: String) throws(InvalidRequest) {
        if DataURI.isDataURI(source) {
            let uri = try DataURI(parsing: source)
            (mediaType, bytes) = (uri.mediaType, uri.bytes)
        } else {
            (mediaType, bytes) = (nil, try PlainBase64(parsing: source).bytes)
        }
    }
}
