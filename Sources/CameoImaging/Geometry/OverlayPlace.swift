package import CameoModel

/// The size and position of an overlay on a thumbnail.
package struct OverlayPlace: Hashable, Sendable {
    package let size: PixelSize
    package let left: Int
    package let top: Int

    /// Fits an overlay with the natural size `own`, whose aspect ratio is kept. The margin is in pixels of the
    /// thumbnail; opposite margins leave at least one pixel between them.
    package init(of own: PixelSize, on thumbnail: PixelSize, _ overlay: Rendition.Overlay, margin: Int) {
        let horizontal = min(margin, (thumbnail.width - 1) / 2)
        let vertical = min(margin, (thumbnail.height - 1) / 2)
        let room = PixelSize(thumbnail.width - 2 * horizontal, thumbnail.height - 2 * vertical)
        var factor = min(
            Double(room.width) / Double(own.width),
            Double(room.height) / Double(own.height)
        )
        if let scale = overlay.scale {
            let wanted = min(
                scale * Double(thumbnail.width) / Double(own.width),
                scale * Double(thumbnail.height) / Double(own.height)
            )
            factor = min(factor, wanted)
        } else {
            factor = min(factor, 1)
        }
        size = PixelSize(
            min(room.width, max(1, Int((Double(own.width) * factor).rounded()))),
            min(room.height, max(1, Int((Double(own.height) * factor).rounded())))
        )
        let place = Placement(of: size, in: room, gravity: overlay.gravity)
        (left, top) = (place.left + horizontal, place.top + vertical)
    }
}
