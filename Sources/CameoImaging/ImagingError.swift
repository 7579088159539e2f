package import CameoModel
internal import Glibc

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
    case tooManyPixels(PixelSize, limit: Int)
    case edgeTooLong(PixelSize, limit: Int)
    case tooManyFrames(limit: Int)
    case tooManyAnimatedPixels(PixelSize, frames: Int, limit: Int)
    /// An SVG's text has too many bytes.
    case drawingTooLong(bytes: Int, limit: Int)
    /// The page does not exist; pages count from 0.
    case noSuchPage(Int, pages: Int)
    /// The crop extends beyond the picture.
    /// - Parameter within: the size of the picture that is cropped.
    case cropOutside(Rendition.CropArea, within: PixelSize)
    /// A rendition would be too large before it is cut to its box.
    case renditionTooLarge(PixelSize, limit: Int)
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

extension ImagingError {
    /// A predicate that completes a sentence beginning with the source's name.
    package var predicate: String {
        switch self {
        case .unsupportedFormat(let looksLike):
            "is \(looksLike.map { "\($0), " } ?? "")not a \(Self.formats) picture"
        case .formatNotAllowed(let format):
            "is a \(format.name) file, which is only decoded with --allow-format \(format.rawValue)"
        case .noDecoder(let format):
            "is a \(format.name) file, for which this libvips has no decoder"
        case .unsupportedPixels(let description):
            "has pixels that cannot be shown as sRGB: \(description)"
        case .tooManyBands(let bands, let limit):
            "has \(bands) bands, more than the limit of \(limit)"
        case .corrupt(let format, let detail):
            "is a damaged or truncated \(format.name) file\(Self.explained(detail))"
        case .tooManyPixels(let size, let limit):
            "is \(size) = \(size.pixels) pixels, more than the limit of \(limit)"
        case .edgeTooLong(let size, let limit):
            "is \(size) pixels, more than the limit of \(limit) per edge"
        case .tooManyFrames(let limit):
            // Not how many: libvips stops counting beyond the limit.
            "has more frames than the limit of \(limit) for an animated thumbnail"
        case .tooManyAnimatedPixels(let size, let frames, let limit):
            "has \(frames) frames of \(size), \(size.pixels * frames) pixels in total, "
                + "more than the limit of \(limit) for an animated thumbnail"
        case .drawingTooLong(let bytes, let limit):
            "is an SVG drawing of \(bytes) bytes, more than the limit of \(limit)"
        case .noSuchPage(let page, let pages):
            "has \(pages) \(pages == 1 ? "page" : "pages"), so there is no page \(page) (pages count from 0)"
        case .cropOutside(let area, let size):
            "is \(size) pixels where it is cropped, but the crop of \(Int(area.width)) × \(Int(area.height)) "
                + "at \(Int(area.left)),\(Int(area.top)) extends beyond it"
        case .renditionTooLarge(let size, let limit):
            "would become \(size) pixels, more than the limits of 16383 per edge and \(limit) in total"
        case .tooManyBytes(let limit, let smallest):
            "cannot be encoded in \(limit) bytes: the smallest result has \(smallest)"
        case .outOfMemory:
            "needs more memory to decode than is available"
        case .encodingFailed(let detail):
            "could not be encoded\(Self.explained(detail))"
        case .processingFailed(let step, let detail):
            "failed in step \(step)\(Self.explained(detail))"
        case .noFont(let letters):
            "cannot be drawn: no installed font has the letters \"\(letters)\""
        case .unreadable(let reason):
            "could not be read: \(reason)"
        case .overlay(let uri, let error):
            "has an overlay (\(SourceName.of(uri))) that \(error.predicate)"
        }
    }

    private static let formats = "JPEG, PNG, GIF, WebP, TIFF, HEIF, AVIF or SVG"

    private static func explained(_ detail: String) -> String { detail.isEmpty ? "" : " (\(detail))" }
}

/// The process's address space, which RLIMIT_AS bounds.
enum AddressSpace {
    /// Whether an allocation of this size would succeed now.
    static func hasRoom(for bytes: Int) -> Bool {
        guard bytes > 0, let piece = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            piece != MAP_FAILED
        else { return bytes <= 0 }
        munmap(piece, bytes)
        return true
    }
}
