/// Why no rendition was made. Decided by our own checks, the stage and libvips' result code; libvips' text only
/// explains.
package enum ImagingError: Error, Hashable, Sendable {
    /// - Parameter looksLike: what the first bytes look like, with its article, when known: `an SVG drawing`.
    case unsupportedFormat(looksLike: String?)
    /// Pixels that libvips has no way to sRGB for.
    case unsupportedPixels(String)
    case corrupt(PictureFormat, detail: String)
    case tooManyPixels(width: Int, height: Int, limit: Int)
    /// What a rendition would become, before it is cut.
    case renditionTooLarge(width: Int, height: Int, limit: Int)
    /// Where a decoder failed for which there could not have been memory enough.
    case outOfMemory
    case encodingFailed(String)
    /// A step between decoder and encoder failed.
    case processingFailed(step: String, detail: String)
    /// The source's descriptor cannot be mapped.
    case unreadable(String)
}
