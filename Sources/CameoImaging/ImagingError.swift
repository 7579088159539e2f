package import CameoModel

/// Why no rendition was made. Decided by our own checks, the stage and libvips' result code; libvips' text only
/// explains.
package indirect enum ImagingError: Error, Hashable, Sendable {
    /// - Parameter looksLike: what the first bytes look like, with its article, when known: `a PDF document`.
    case unsupportedFormat(looksLike: String?)
    /// Known, but only decoded where it is allowed.
    case formatNotAllowed(PictureFormat)
    /// This libvips has no decoder for it.
    case noDecoder(PictureFormat)
    /// Pixels that libvips has no way to sRGB for.
    case unsupportedPixels(String)
    case tooManyBands(Int, limit: Int)
    case corrupt(PictureFormat, detail: String)
    case tooManyPixels(width: Int, height: Int, limit: Int)
    case edgeTooLong(width: Int, height: Int, limit: Int)
    case tooManyFrames(Int, limit: Int)
    case tooManyAnimatedPixels(width: Int, height: Int, frames: Int, limit: Int)
    /// - Parameter bytes: of the text.
    case drawingTooLong(bytes: Int, limit: Int)
    /// Counted from 0.
    case noSuchPage(Int, pages: Int)
    /// - Parameter within: the size of the picture that is cropped.
    case cropOutside(Rendition.CropArea, within: PixelSize)
    /// What a rendition would become, before it is cut.
    case renditionTooLarge(width: Int, height: Int, limit: Int)
    /// - Parameter smallest: the least that any quality made of it.
    case tooManyBytes(limit: Int, smallest: Int)
    /// Where a decoder failed for which there could not have been memory enough.
    case outOfMemory
    case encodingFailed(String)
    /// A step between decoder and encoder failed.
    case processingFailed(step: String, detail: String)
    /// No font of this machine has what the initials are made of.
    case noFont(letters: String)
    /// The source's descriptor cannot be mapped.
    case unreadable(String)
    /// An overlay that came with the job, by its URI, is at fault.
    case overlay(String, ImagingError)
}
