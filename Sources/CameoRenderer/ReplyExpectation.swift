internal import CameoModel
internal import CameoRenderMessages
internal import Foundation

/// The checks that a renderer's picture must pass for a job.
struct ReplyExpectation {
    let renditions: [Rendition]
    /// What the worker itself detects from the first bytes; if that is nil, no picture is accepted.
    let sourceFormat: PictureFormat?
    let configuration: RendererConfiguration

    func check(_ picture: RenderedPicture) throws(MalformedMessage) {
        guard let sourceFormat, picture.source.format == sourceFormat else {
            let found = sourceFormat?.name ?? "no picture"
            throw MalformedMessage("the source is \(found), not \(picture.source.format.name)")
        }
        guard !picture.isTruncated || configuration.toleratesTruncation else {
            throw MalformedMessage("a truncated source was rendered without permission")
        }
        guard picture.renditions.map(\.format) == renditions.map({ $0.format.written(for: sourceFormat) }) else {
            throw MalformedMessage("the renditions are not those requested")
        }
        let total = picture.renditions.reduce(0) { $0 + $1.byteCount }
        let limits = configuration.limits
        guard total <= limits.totalOutputBytes else {
            let limit = limits.totalOutputBytes
            throw MalformedMessage("renditions of \(total) bytes in total are over the limit of \(limit)")
        }
        for (rendition, made) in zip(renditions, picture.renditions) {
            let limit = min(rendition.encoding.maxBytes ?? .max, limits.outputBytes)
            guard made.byteCount <= limit else {
                throw MalformedMessage("a rendition of \(made.byteCount) bytes is over the limit of \(limit)")
            }
            let mayMove = rendition.encoding.animated && made.format.isAnimatable && picture.source.isAnimated
            let frames = mayMove ? min(picture.source.pages, limits.frames) : 1
            guard made.frames <= (configuration.makesFrames ? rendition.storyboard?.tiles ?? 1 : frames) else {
                throw MalformedMessage("a rendition has \(made.frames) frames")
            }
            let size = PixelSize(made.width, made.height)
            let mayHave =
                configuration.makesFrames
                ? size.pixels <= picture.source.width * picture.source.height
                : rendition.mayHave(size, of: picture.source, limits)
            guard mayHave else {
                throw MalformedMessage("a rendition of \(size) pixels does not match the request")
            }
        }
    }

    func check(_ bytes: Data, of rendition: EncodedRendition) throws(MalformedMessage) {
        guard PictureFormat(sniffing: bytes) == rendition.format.traits.picture else {
            throw MalformedMessage("the bytes of a rendition are not \(rendition.format.rawValue)")
        }
        guard let found = EncodedPicture(bytes, rendition.format) else {
            throw MalformedMessage("the bytes of a rendition are not one complete \(rendition.format.rawValue)")
        }
        guard found.width == rendition.width, found.height == rendition.height else {
            let announced = "\(rendition.width) × \(rendition.height)"
            throw MalformedMessage("a rendition is \(found.width) × \(found.height) pixels, not \(announced)")
        }
        guard found.frames <= rendition.frames else {
            throw MalformedMessage("a rendition has \(found.frames) frames, not \(rendition.frames)")
        }
    }
}

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
