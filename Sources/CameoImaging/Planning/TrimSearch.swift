internal import CameoModel

/// Finds the part of a picture inside its uniform borders.
enum TrimSearch {
    /// The top left pixel decides: if it is transparent, every transparent pixel is border, else every pixel of a
    /// similar colour. The threshold is the largest difference, of 255, within a border. If there is nothing but
    /// border, the whole picture is returned.
    static func box(
        in picture: borrowing VipsPicture,
        threshold: Int
    ) throws(ImagingError) -> PixelArea {
        let whole = PixelArea(whole: PixelSize(picture.width, picture.height))
        // vips_find_trim examines windows of 3 × 3 pixels and fails on smaller pictures.
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
