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
        guard let area = area(in: picture, threshold) else {
            throw .processingFailed(step: "trim", detail: VipsLibrary.takeErrorText())
        }
        return area
    }

    private static func area(in picture: borrowing VipsPicture, _ threshold: Int) -> PixelArea? {
        guard let corner = picture.pixel(x: 0, y: 0) else { return nil }
        let colors = Array(corner.dropLast())
        guard picture.hasAlpha else { return picture.differing(from: corner, by: threshold) }
        if corner.last == 0 { return picture.alphaBand()?.differing(from: [0], by: threshold) }
        return picture.flattened(background: colors)?.differing(from: colors, by: threshold)
    }
}
