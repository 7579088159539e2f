internal import CVips
internal import CameoModel

/// A decoded overlay: upright, sRGB, four bands of 8 bits, not premultiplied, in memory.
final class OverlayPicture {
    /// The longest edge that is kept, in pixels; larger overlays are shrunk to it.
    private static let maximumEdge = 4_096
    /// The longest edge at which vector drawings are rasterized, in pixels.
    private static let drawingEdge = 2_048

    let picture: VipsPicture
    /// The size that the file declares, in pixels. The overlay is drawn at this size unless the request scales it.
    let namedSize: PixelSize
    private var latest: VipsPicture?

    /// Decodes a file.
    init(_ mapping: borrowing SourceMapping, _ rules: SourceRules) throws(ImagingError) {
        let reader = try SourceReader(mapping, rules)
        let header = try reader.header()
        let shape = reader.shape(header)
        let size = Self.size(of: shape.canvas, shape.format)
        let shared = try SourceDecoder(reader: reader, shape: shape)
            .page(0, header: header, at: size, keepsProfile: false)
        let frame = try shared.frame(0, inSourceProfile: false)
        picture = try .result(of: "overlay", frame.colored()?.withAlpha()?.materialized())
        namedSize = shape.size
    }

    /// The overlay at a size. The latest result is kept, because all frames of an animation ask for the same size.
    func resized(to size: PixelSize) -> VipsPicture? {
        if latest?.width != size.width || latest?.height != size.height {
            latest = Resampling.resize(picture.sharingReference(), from: .memory, to: size)?.materialized()
        }
        return latest?.sharingReference()
    }

    /// The size at which the overlay is decoded.
    static func size(of canvas: PixelSize, _ format: PictureFormat) -> PixelSize {
        let longest = Double(max(canvas.width, canvas.height))
        if format.isVector { return canvas.scaled(by: Double(drawingEdge) / longest) }
        return canvas.scaled(by: min(1, Double(maximumEdge) / longest))
    }
}

/// The overlays of a job, each decoded when the first rendition needs it and kept for the others.
final class OverlayCache {
    private let sources: [OverlaySource]
    private let rules: SourceRules
    private var decoded: [String: OverlayPicture] = [:]

    init(_ sources: [OverlaySource], _ rules: SourceRules) {
        self.sources = sources
        self.rules = rules
    }

    /// The overlay of a rendition, or nil if it has none.
    func picture(for rendition: Rendition) throws(ImagingError) -> OverlayPicture? {
        guard let uri = rendition.look.overlay?.source else { return nil }
        if let known = decoded[uri] { return known }
        guard let source = sources.first(where: { $0.uri == uri }) else {
            throw .overlay(uri, .unreadable("its bytes did not come with the job"))
        }
        do throws(ImagingError) {
            let picture = try OverlayPicture(source.mapping, rules)
            decoded[uri] = picture
            return picture
        } catch {
            throw .overlay(uri, error)
        }
    }
}

/// The bytes of an overlay and the URI by which renditions refer to it.
package final class OverlaySource {
    /// The URI as the rendition's overlay spells it.
    let uri: String
    let mapping: SourceMapping

    package init(_ uri: String, _ mapping: consuming SourceMapping) {
        self.uri = uri
        self.mapping = mapping
    }
}

extension PixelArea {
    /// Where an overlay with the natural size `own`, whose aspect ratio is kept, is drawn on a thumbnail. The margin is in
    /// pixels of the thumbnail; opposite margins leave at least one pixel between them.
    init(of own: PixelSize, on thumbnail: PixelSize, _ overlay: Rendition.Overlay, margin: Int) {
        let horizontal = min(margin, (thumbnail.width - 1) / 2)
        let vertical = min(margin, (thumbnail.height - 1) / 2)
        let room = PixelSize(thumbnail.width - 2 * horizontal, thumbnail.height - 2 * vertical)
        let most = room.factors(from: own)
        var factor = min(most.across, most.down)
        if let scale = overlay.scale {
            let wanted = min(
                scale * Double(thumbnail.width) / Double(own.width),
                scale * Double(thumbnail.height) / Double(own.height)
            )
            factor = min(factor, wanted)
        } else {
            factor = min(factor, 1)
        }
        let scaled = own.scaled(by: factor)
        let size = PixelSize(min(room.width, scaled.width), min(room.height, scaled.height))
        self.init(placing: size, in: room, gravity: overlay.gravity)
        left += horizontal
        top += vertical
    }
}
