internal import CameoModel

/// What geometry needs to know of a page or a frame of a source.
struct SourceShape: Hashable {
    /// Upright, in the pixels in which `crop` counts.
    let size: PixelSize
    /// That size, or a finer measure of a drawing.
    let canvas: PixelSize
    let format: PictureFormat
}

/// The part of a picture from which a rendition is made: what trimming and `crop` leave.
struct PicturePart: Hashable {
    /// The size of the whole picture in the pixels in which the area is given.
    let canvas: PixelSize
    let area: PixelArea

    /// The area's size after rotation, which is fitted into the box.
    let turned: PixelSize

    /// The area is given in parts of the source's canvas, except for a trimmed drawing: one pixel of an icon's nominal size may
    /// be a large part of it, so the frame in which its borders were searched is used.
    init(of rendition: Rendition, _ source: SourceShape, trimmed: TrimmedArea?) throws(ImagingError) {
        let canvas = trimmed.map { source.format.isVector ? $0.frame : source.canvas } ?? source.canvas
        self.canvas = canvas
        var area = trimmed?.area(in: canvas) ?? .whole(canvas)
        if let crop = rendition.crop { area = try area.cropped(to: Self.scaled(crop, from: source.size, to: canvas)) }
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
        let (horizontal, vertical) = canvas.factors(from: source)
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

/// What `cover` cuts off anyway, and need not be resampled, converted and kept.
enum EarlyCut {
    /// The part of the shared picture that the only rendition of a group needs, in upright pixels; nil for all of it.
    ///
    /// Only columns are left out (rows of a picture that is stored on its side): a decoder that does not read all rows
    /// does not notice that a file is truncated. Those of tiled TIFF and of drawings would also leave out columns.
    static func kept(
        for renditions: [Rendition],
        of source: SourceShape,
        at shared: PixelSize,
        isTurnedSideways: Bool
    ) -> PixelArea? {
        guard renditions.count == 1, let rendition = renditions.first, rendition.fit == .cover,
            !rendition.gravity.isSmart, rendition.trim == nil, rendition.crop == nil, rendition.rotate == .none,
            rendition.flip == nil, source.format != .tiff, !source.format.isVector
        else { return nil }
        let geometry = Geometry(of: rendition, source: source.size)
        guard geometry.resized == shared else { return nil }
        var kept = PixelArea(placing: geometry.final, in: shared, gravity: rendition.gravity)
        if isTurnedSideways {
            (kept.left, kept.size.width) = (0, shared.width)
        } else {
            (kept.top, kept.size.height) = (0, shared.height)
        }
        return kept.size == shared ? nil : kept
    }
}

/// Finds the part of a picture inside its uniform borders.
enum TrimSearch {
    /// The top left pixel decides: if it is transparent, every transparent pixel is border, else every pixel of a
    /// similar colour. The threshold is the largest difference, of 255, within a border. If there is nothing but
    /// border, the whole picture is returned. Nil if libvips failed.
    static func box(in picture: borrowing VipsPicture, threshold: Int) -> PixelArea? {
        guard let corner = picture.pixel(x: 0, y: 0) else { return nil }
        let colors = Array(corner.dropLast())
        guard picture.hasAlpha else { return picture.differing(from: corner, by: threshold) }
        if corner.last == 0 { return picture.alphaBand()?.differing(from: [0], by: threshold) }
        return picture.flattened(background: colors)?.differing(from: colors, by: threshold)
    }
}
