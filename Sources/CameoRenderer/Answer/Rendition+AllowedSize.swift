internal import CameoModel

extension Rendition {
    /// Whether the rendition of such a source may have this size: by its box alone and, where neither trimming nor another
    /// page makes it the renderer's to know, by the very computation that the renderer makes.
    func mayHave(_ size: PixelSize, of source: PictureFacts, _ limits: RenderLimits) -> Bool {
        guard size.pixels <= limits.pixels, fitsBox(size) else { return false }
        guard trim == nil, crop == nil, page == 0 else { return true }
        let upright = PixelSize(source.width, source.height)
        let turned = rotate.isSideways ? upright.turned : upright
        return Geometry(of: self, source: turned, mayGrow: source.format.isVector).final == size
    }

    private func fitsBox(_ size: PixelSize) -> Bool {
        let isNarrow = boxWidth.map { size.width <= $0 }
        let isLow = boxHeight.map { size.height <= $0 }
        guard fit == .outside, let isNarrow, let isLow else { return isNarrow ?? true && isLow ?? true }
        return isNarrow || isLow
    }
}
