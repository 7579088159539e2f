internal import CameoModel

/// Finds the part of a picture that its uniform borders surround.
enum TrimSearch {
    /// By the left upper pixel: where it is transparent, every transparent pixel is border, else every pixel of about its
    /// colour; the threshold says how far, of 255, a border's pixels may differ. Where there is nothing but border, the
    /// whole picture is left.
    static func box(
        in picture: borrowing VipsPicture,
        threshold: Int
    ) throws(ImagingError) -> PixelArea {
        let whole = PixelArea(whole: PixelSize(picture.width, picture.height))
        // vips_find_trim looks at windows of three by three pixels, and fails where there is none.
        guard min(picture.width, picture.height) >= 3 else { return whole }
        guard let box = search(picture, Double(threshold)) else {
            throw .processingFailed(step: "trim", detail: VipsLibrary.takeErrorText())
        }
        guard box.width > 0, box.height > 0 else { return whole }
        return PixelArea(left: box.left, top: box.top, size: PixelSize(box.width, box.height))
    }

    private static func search(
        _ picture: borrowing VipsPicture,
        _ threshold: Double
    ) -> (left: Int, top: Int, width: Int, height: Int)? {
        guard let corner = picture.pixel(x: 0, y: 0) else { return nil }
        guard picture.hasAlpha else { return picture.trimBox(threshold: threshold, background: corner) }
        let (colors, alpha) = (Array(corner.dropLast()), corner.last ?? 255)
        if alpha == 0 {
            guard let mask = picture.bands(from: picture.bands - 1, count: 1) else { return nil }
            return mask.trimBox(threshold: threshold, background: [0])
        }
        guard let opaque = picture.flattened(background: colors) else { return nil }
        return opaque.trimBox(threshold: threshold, background: colors)
    }
}
