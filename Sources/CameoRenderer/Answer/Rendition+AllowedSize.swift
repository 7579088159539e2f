internal import CameoModel

extension Rendition {
    /// Whether the rendition of such a source may have this size. The box is always checked; the exact size too, by the
    /// same computation as in the renderer, unless trimming, a crop or another page makes it unknown to the worker, or it
    /// follows from a drawing's own numbers, which its facts round.
    func mayHave(_ size: PixelSize, of source: PictureFacts, _ limits: RenderLimits) -> Bool {
        if let storyboard, source.format == .video {
            let tile = PixelSize(
                size.width / storyboard.columns(of: source.pages),
                size.height / storyboard.rows(of: source.pages)
            )
            var single = self
            single.storyboard = nil
            return storyboard.size(of: tile, tiles: source.pages) == size && single.mayHave(tile, of: source, limits)
        }
        guard size.pixels <= limits.pixels, fitsBox(size) else { return false }
        guard trim == nil, crop == nil, page == 0, source.format != .svg, source.format != .pdf else { return true }
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
