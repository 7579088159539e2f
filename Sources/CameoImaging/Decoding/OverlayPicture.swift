internal import CVips
internal import CameoModel

/// A decoded overlay: upright, sRGB, four bands of 8 bits, not premultiplied, in memory.
final class OverlayPicture {
    /// The longest edge that is kept, in pixels; larger overlays are shrunk to it.
    private static let maximumEdge = 4_096
    /// The longest edge at which vector drawings are rasterized, in pixels.
    private static let drawingEdge = 2_048

    let picture: VipsPicture
    /// The size that the file declares, in pixels. The overlay is drawn at this size unless the request scales it.
    let namedSize: PixelSize
    private var latest: VipsPicture?

    init(_ picture: consuming VipsPicture, namedSize: PixelSize) throws(ImagingError) {
        var colored = picture
        if colored.colorBands < 3 {
            guard let converted = colored.converted(to: VIPS_INTERPRETATION_sRGB) else { throw Self.failure }
            colored = converted
        }
        if !colored.hasAlpha {
            guard let withAlpha = colored.addingAlpha() else { throw Self.failure }
            colored = withAlpha
        }
        guard let pixels = colored.materialized() else { throw Self.failure }
        self.picture = pixels
        self.namedSize = namedSize
    }

    /// The overlay at a size. The latest result is kept, because all frames of an animation ask for the same size.
    func resized(to size: PixelSize) -> VipsPicture? {
        if latest?.width != size.width || latest?.height != size.height {
            latest = Resampling.resize(picture.sharingReference(), from: .memory, to: size)?.materialized()
        }
        return latest?.sharingReference()
    }

    /// The size at which the overlay is decoded.
    static func size(of canvas: PixelSize, _ format: PictureFormat) -> PixelSize {
        let longest = Double(max(canvas.width, canvas.height))
        if format.isVector { return canvas.scaled(by: Double(drawingEdge) / longest) }
        return canvas.scaled(by: min(1, Double(maximumEdge) / longest))
    }

    private static var failure: ImagingError {
        .processingFailed(step: "overlay", detail: VipsLibrary.takeErrorText())
    }
}
