internal import CameoModel

/// The part of a picture from which a rendition is made: what trimming and `crop` leave.
struct PicturePart: Hashable {
    /// The size of the whole picture in the pixels in which the area is given.
    let canvas: PixelSize
    let area: PixelArea

    /// The area's size after rotation, which is fitted into the box.
    let turned: PixelSize

    /// The source's size is upright, in the pixels in which `crop` counts. The area is given in parts of `canvas`, which is
    /// that size or a finer measure of a drawing, except for a trimmed drawing: one pixel of an icon's nominal size may be a
    /// large part of it, so the frame in which its borders were searched is used.
    init(
        of rendition: Rendition,
        source: PixelSize,
        canvas: PixelSize,
        format: PictureFormat,
        trimmed: TrimmedArea?
    ) throws(ImagingError) {
        let canvas = trimmed.map { format.isVector ? $0.frame : canvas } ?? canvas
        self.canvas = canvas
        var area = trimmed?.area(in: canvas) ?? PixelArea(whole: canvas)
        if let crop = rendition.crop { area = try area.cropped(to: Self.scaled(crop, from: source, to: canvas)) }
        self.area = area
        turned = rendition.rotate.isSideways ? area.size.turned : area.size
    }

    /// Converts a crop from pixels of the source to pixels of the canvas.
    private static func scaled(
        _ crop: Rendition.CropArea,
        from source: PixelSize,
        to canvas: PixelSize
    ) -> Rendition.CropArea {
        guard crop.unit == .pixels, source != canvas else { return crop }
        let horizontal = Double(canvas.width) / Double(source.width)
        let vertical = Double(canvas.height) / Double(source.height)
        return Rendition.CropArea(
            left: (crop.left * horizontal).rounded(.down),
            top: (crop.top * vertical).rounded(.down),
            width: max(1, (crop.width * horizontal).rounded(.down)),
            height: max(1, (crop.height * vertical).rounded(.down))
        )
    }
}

/// The area that trimming left of a picture, in pixels of the frame in which its borders were searched.
struct TrimmedArea: Hashable {
    let box: PixelArea
    let frame: PixelSize

    /// The same part of the picture at another size.
    func area(in size: PixelSize) -> PixelArea { box.scaled(from: frame, to: size) }
}
