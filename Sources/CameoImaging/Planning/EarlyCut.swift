internal import CameoModel

/// What `cover` cuts off anyway, and need not be resampled, converted and kept.
enum EarlyCut {
    /// The part of the shared picture that the only rendition of a group needs, in upright pixels; nil for all of it.
    ///
    /// Only columns are left out (rows of a picture that is stored on its side): a decoder that does not read all rows
    /// does not notice that a file is truncated. Those of tiled TIFF and of drawings would also leave out columns.
    static func kept(
        for renditions: [Rendition],
        of source: PixelSize,
        format: PictureFormat,
        at shared: PixelSize,
        isTurnedSideways: Bool
    ) -> PixelArea? {
        guard renditions.count == 1, let rendition = renditions.first, rendition.fit == .cover,
            !rendition.gravity.isSmart, rendition.trim == nil, rendition.crop == nil, rendition.rotate == .none,
            rendition.flip == nil, format != .tiff, !format.isVector
        else { return nil }
        let geometry = Geometry(of: rendition, source: source)
        guard geometry.resized == shared else { return nil }
        let (box, place) = (geometry.final, Placement(of: geometry.final, in: shared, gravity: rendition.gravity))
        let kept =
            isTurnedSideways
            ? PixelArea(left: 0, top: place.top, size: PixelSize(shared.width, box.height))
            : PixelArea(left: place.left, top: 0, size: PixelSize(box.width, shared.height))
        return kept.size == shared ? nil : kept
    }
}
