package import Foundation

/// A picture whose bytes stand in the source itself: in a `data:` URI, or in base64 with nothing around it.
package struct InlinePicture: Hashable, Sendable {
    /// As a `data:` URI declares it; see ``DataURI/mediaType``.
    package let mediaType: String?
    package let bytes: Data

    /// Whether a source is meant as one. It may still be malformed.
    package static func isIn(_ source: String) -> Bool { DataURI.isDataURI(source) || PlainBase64.isMeant(by: source) }

    package init(parsing source: String) throws(InvalidRequest) {
        if DataURI.isDataURI(source) {
            let uri = try DataURI(parsing: source)
            (mediaType, bytes) = (uri.mediaType, uri.bytes)
        } else {
            (mediaType, bytes) = (nil, try PlainBase64(parsing: source).bytes)
        }
    }
}
