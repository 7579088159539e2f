package import CameoModel
internal import Glibc

/// Why no rendition was made. The reason is decided by Cameo's own checks, the stage and libvips' result code; libvips'
/// text is only an explanation.
package struct ImagingError: Error, Hashable, Sendable {
    package let reason: RenderRefusal.Reason
    /// A predicate that completes a sentence beginning with the source's name.
    package let predicate: String
    /// The format of a source that is damaged or truncated; nil for any other error, also that of an overlay.
    private(set) var damaged: PictureFormat?

    init(_ reason: RenderRefusal.Reason, _ predicate: String) {
        self.reason = reason
        self.predicate = predicate
    }

    /// `looksLike` is what the first bytes look like, with its article, if known: `a PDF document`.
    static func unsupportedFormat(looksLike: String?) -> ImagingError {
        let formats = "JPEG, PNG, GIF, WebP, TIFF, HEIF, AVIF or SVG"
        return ImagingError(.unsupportedFormat, "is \(looksLike.map { "\($0), " } ?? "")not a \(formats) picture")
    }

    /// libvips cannot convert the pixels to sRGB.
    static func unsupportedPixels(_ description: String) -> ImagingError {
        ImagingError(.unsupportedFormat, "has pixels that cannot be shown as sRGB: \(description)")
    }

    static func corrupt(_ format: PictureFormat, detail: String = VipsLibrary.takeErrorText()) -> ImagingError {
        var error = ImagingError(.corrupt, "is a damaged or truncated \(format.name) file\(explained(detail))")
        error.damaged = format
        return error
    }

    static func tooManyAnimatedPixels(_ size: PixelSize, frames: Int, limit: Int) -> ImagingError {
        let total = "\(frames) frames of \(size), \(size.pixels * frames) pixels in total"
        return ImagingError(.tooManyPixels, "has \(total), more than the limit of \(limit) for an animated thumbnail")
    }

    /// A rendition would be too large, maybe before it is cut to its box.
    static func renditionTooLarge(_ size: PixelSize, limit: Int) -> ImagingError {
        let limits = "the limits of 16383 per edge and \(limit) in total"
        return ImagingError(.tooManyPixels, "would become \(size) pixels, more than \(limits)")
    }

    /// A decoder failed and needed more memory than was available.
    static let outOfMemory = ImagingError(.outOfMemory, "needs more memory to decode than is available")

    static func encodingFailed(_ detail: String = VipsLibrary.takeErrorText()) -> ImagingError {
        ImagingError(.failed, "could not be encoded\(explained(detail))")
    }

    /// A step between decoder and encoder failed.
    static func processingFailed(step: String) -> ImagingError {
        ImagingError(.failed, "failed in step \(step)\(explained(VipsLibrary.takeErrorText()))")
    }

    /// The source's descriptor cannot be mapped.
    static func unreadable(_ reason: String) -> ImagingError { ImagingError(.failed, "could not be read: \(reason)") }

    /// The overlay with this URI, sent with the job, is at fault.
    static func overlay(_ uri: String, _ error: ImagingError) -> ImagingError {
        ImagingError(error.reason, "has an overlay (\(SourceName.of(uri))) that \(error.predicate)")
    }

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
