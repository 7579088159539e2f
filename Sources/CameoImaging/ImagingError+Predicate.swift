internal import CameoModel

extension ImagingError {
    /// A predicate that completes a sentence beginning with the source's name.
    package var predicate: String {
        switch self {
        case .unsupportedFormat(let looksLike?):
            "is \(looksLike), not a \(Self.formats) picture"
        case .unsupportedFormat(nil):
            "is not a \(Self.formats) picture"
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
        case .tooManyPixels(let width, let height, let limit):
            "is \(width) × \(height) = \(width * height) pixels, more than the limit of \(limit)"
        case .edgeTooLong(let width, let height, let limit):
            "is \(width) × \(height) pixels, more than the limit of \(limit) per edge"
        case .tooManyFrames(let frames, let limit):
            "has \(frames) frames, more than the limit of \(limit) for an animated thumbnail"
        case .tooManyAnimatedPixels(let width, let height, let frames, let limit):
            "has \(frames) frames of \(width) × \(height), \(width * height * frames) pixels in total, "
                + "more than the limit of \(limit) for an animated thumbnail"
        case .drawingTooLong(let bytes, let limit):
            "is an SVG drawing of \(bytes) bytes, more than the limit of \(limit)"
        case .noSuchPage(let page, let pages):
            "has \(pages) \(pages == 1 ? "page" : "pages"), so there is no page \(page) (pages count from 0)"
        case .cropOutside(let area, let size):
            "is \(size) pixels where it is cropped, but the crop of \(Int(area.width)) × \(Int(area.height)) "
                + "at \(Int(area.left)),\(Int(area.top)) extends beyond it"
        case .renditionTooLarge(let width, let height, let limit):
            "would become \(width) × \(height) pixels, more than the limits of 16383 per edge and \(limit) in total"
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
