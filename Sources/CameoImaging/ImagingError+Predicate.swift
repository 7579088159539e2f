extension ImagingError {
    /// The rest of a sentence that begins with the source's name.
    package var predicate: String {
        switch self {
        case .unsupportedFormat(let looksLike?):
            "is \(looksLike), not a JPEG, PNG, GIF, WebP, TIFF, HEIF or AVIF picture"
        case .unsupportedFormat(nil):
            "is not a JPEG, PNG, GIF, WebP, TIFF, HEIF or AVIF picture"
        case .unsupportedPixels(let description):
            "has pixels that cannot be shown as sRGB: \(description)"
        case .corrupt(let format, let detail):
            "is a damaged or truncated \(format.name) file\(Self.explained(detail))"
        case .tooManyPixels(let width, let height, let limit):
            "is \(width) × \(height) = \(width * height) pixels, more than the limit of \(limit)"
        case .renditionTooLarge(let width, let height, let limit):
            "would become \(width) × \(height) pixels, more than the limits of 16383 an edge and \(limit) in all"
        case .outOfMemory:
            "needs more memory to decode than there is"
        case .encodingFailed(let detail):
            "could not be encoded\(Self.explained(detail))"
        case .processingFailed(let step, let detail):
            "failed in the step \(step)\(Self.explained(detail))"
        case .unreadable(let reason):
            "could not be read: \(reason)"
        }
    }

    private static func explained(_ detail: String) -> String { detail.isEmpty ? "" : " (\(detail))" }
}
