package import CameoModel

/// Why no rendition was made. The case is decided by Cameo's own checks, the stage and libvips' result code; libvips'
/// text is only an explanation.
package indirect enum ImagingError: Error, Hashable, Sendable {
    /// The source is in no supported format.
    /// - Parameter looksLike: what the first bytes look like, with its article, if known: `a PDF document`.
    case unsupportedFormat(looksLike: String?)
    /// The format is supported, but must be allowed explicitly.
    case formatNotAllowed(PictureFormat)
    case noDecoder(PictureFormat)
    /// libvips cannot convert the pixels to sRGB.
    case unsupportedPixels(String)
    case tooManyBands(Int, limit: Int)
    case corrupt(PictureFormat, detail: String)
    case tooManyPixels(width: Int, height: Int, limit: Int)
    case edgeTooLong(width: Int, height: Int, limit: Int)
    case tooManyFrames(Int, limit: Int)
    case tooManyAnimatedPixels(width: Int, height: Int, frames: Int, limit: Int)
    /// An SVG's text has too many bytes.
    case drawingTooLong(bytes: Int, limit: Int)
    /// The page does not exist; pages count from 0.
    case noSuchPage(Int, pages: Int)
    /// The crop extends beyond the picture.
    /// - Parameter within: the size of the picture that is cropped.
    case cropOutside(Rendition.CropArea, within: PixelSize)
    /// A rendition would be too large before it is cut to its box.
    case renditionTooLarge(width: Int, height: Int, limit: Int)
    /// No quality meets `maxBytes`.
    /// - Parameter smallest: the smallest result of any quality tried.
    case tooManyBytes(limit: Int, smallest: Int)
    /// A decoder failed and needed more memory than was available.
    case outOfMemory
    case encodingFailed(String)
    /// A step between decoder and encoder failed.
    case processingFailed(step: String, detail: String)
    /// No installed font has the letters of the initials.
    case noFont(letters: String)
    /// The source's descriptor cannot be mapped.
    case unreadable(String)
    /// The overlay with this URI, sent with the job, is at fault.
    case overlay(String, ImagingError)
}
