internal import CameoModel

/// The part of a picture that a rendition is made of: what trimming and `crop` leave.
struct PicturePart: Hashable {
    /// The size of the whole picture in the pixels that the area counts.
    let canvas: PixelSize
    let area: PixelArea

    /// After turning: what meets the box.
    let turned: PixelSize

    /// The source's size is upright. Its pixels are counted, but for a trimmed drawing: a pixel of an icon's nominal size
    /// may be a large piece of it, so there those of the frame are counted in which its borders were searched.
    init(
        of rendition: Rendition,
        source: PixelSize,
        format: PictureFormat,
        trimmed: TrimmedArea?
    ) throws(ImagingError) {
        canvas = trimmed.map { format.isVector ? $0.frame : source } ?? source
        var area = trimmed?.area(in: canvas) ?? PixelArea(whole: canvas)
        if let crop = rendition.crop { area = try area.cropped(to: Self.scaled(crop, from: source, to: canvas)) }
        self.area = area
        turned = rendition.rotate.isSideways ? area.size.turned : area.size
    }

    /// Pixels of the source in pixels of the canvas.
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

/// What trimming left of a picture, in pixels of the frame in which its borders were searched.
struct TrimmedArea: Hashable {
    let box: PixelArea
    let frame: PixelSize

    /// The same part of the same picture at another size.
    func area(in size: PixelSize) -> PixelArea { box.scaled(from: frame, to: size) }
}
