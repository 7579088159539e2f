/// The sizes of one rendition in upright pixels: the size after resizing, and the final size after cropping or padding.
///
/// The rules are sharp's (`ResolveShrink` and its crop and embed in `pipeline.cc`). They match `vipsthumbnail --size
/// WxH` for `inside`, `--smartcrop` for `cover` and `--size WxH!` for `fill`. One rule is Cameo's: with only one edge
/// given, `fill` keeps the aspect ratio, as the request's documentation says.
package struct Geometry: Hashable, Sendable {
    /// The size of the whole source area after resizing.
    package let resized: PixelSize
    /// The final size: smaller than `resized` where it is cropped, larger where it is padded.
    package let final: PixelSize

    package var isCut: Bool { final.width < resized.width || final.height < resized.height }
    package var isPadded: Bool { final.width > resized.width || final.height > resized.height }

    /// `source` is the size after orientation, crop and rotation. `mayGrow` ignores `withoutEnlargement`, because a
    /// vector drawing has no size of its own.
    package init(of rendition: Rendition, source: PixelSize, mayGrow: Bool = false) {
        let (horizontal, vertical) = Self.shrinks(of: rendition, source: source, mayGrow: mayGrow)
        resized = PixelSize(
            Self.rounded(Double(source.width) / horizontal),
            Self.rounded(Double(source.height) / vertical)
        )
        // An edge that was not asked for follows from the resized picture.
        let width = rendition.boxWidth ?? resized.width
        let height = rendition.boxHeight ?? resized.height
        switch rendition.fit {
        case .cover: final = PixelSize(min(width, resized.width), min(height, resized.height))
        case .contain: final = PixelSize(max(width, resized.width), max(height, resized.height))
        case .inside, .fill, .outside: final = resized
        }
    }

    /// The factor by which each axis shrinks; below 1 it grows.
    private static func shrinks(of rendition: Rendition, source: PixelSize, mayGrow: Bool) -> (Double, Double) {
        let horizontal = rendition.boxWidth.map { Double(source.width) / Double($0) }
        let vertical = rendition.boxHeight.map { Double(source.height) / Double($0) }
        var shrinks = (horizontal ?? vertical ?? 1, vertical ?? horizontal ?? 1)
        switch rendition.fit {
        case .inside, .contain: shrinks = (max(shrinks.0, shrinks.1), max(shrinks.0, shrinks.1))
        case .cover, .outside: shrinks = (min(shrinks.0, shrinks.1), min(shrinks.0, shrinks.1))
        case .fill: break
        }
        if rendition.withoutEnlargement, !mayGrow { shrinks = (max(1, shrinks.0), max(1, shrinks.1)) }
        // No axis shrinks to less than one pixel.
        return (min(shrinks.0, Double(source.width)), min(shrinks.1, Double(source.height)))
    }

    /// Rounds like vips_resize: half a pixel rounds up.
    private static func rounded(_ edge: Double) -> Int { Int(edge + 0.5) }
}

/// A width and a height in pixels.
package struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    package var width: Int
    package var height: Int

    package init(_ width: Int, _ height: Int) {
        self.width = width
        self.height = height
    }

    /// The size after a quarter turn.
    package var turned: PixelSize { PixelSize(height, width) }

    package var pixels: Int { width * height }

    package var description: String { "\(width) × \(height)" }
}

/// Limits on a picture before it is decoded and on the result.
package struct RenderLimits: Hashable, Sendable {
    /// Width × height of a source's page, and of a rendition before cropping: `image.tooManyPixels`.
    package var pixels = 100_000_000
    /// Width or height of a source: `image.tooManyPixels`.
    package var edge = 65_535
    /// Frames of an animation that stays animated: `image.tooManyFrames`.
    package var frames = 1_000
    /// Width × height × frames of an animation that stays animated: `image.tooManyPixels`.
    package var animatedPixels = 100_000_000
    /// Bytes of an SVG, whose dimensions say little about the memory that it needs: `image.tooManyPixels`.
    package var drawingBytes = 10 << 20
    /// Bytes of one encoded rendition, and of all of a job, which the worker holds at once: `render.tooManyBytes`.
    package var outputBytes = 64 << 20, totalOutputBytes = 128 << 20

    /// Bands per pixel of a source (colour, alpha, and a TIFF's extra channels): `image.unsupportedFormat`.
    package static let bands = 16

    /// The largest pixel coordinate in a request.
    static let pixelCoordinates = 10_000_000

    package init() {}
}

/// A source that a renderer refuses.
package enum RenderRefusal {
    /// The failures that a renderer itself reports; the worker detects all others.
    package enum Reason: String, CaseIterable, Sendable {
        case unsupportedFormat, corrupt, tooManyPixels, tooManyFrames, noSuchPage, cropOutside, tooManyBytes
        case noPicture, unsupportedCodec, encrypted, outOfMemory, failed
        /// Only of a ``SourceKind/partialVideo``.
        case bytesMissing
    }
}
