/// What a picture may be before it is decoded, and what may become of it.
package struct RenderLimits: Hashable, Sendable {
    /// Width × height of a source's page, and of a rendition before it is cut: `image.tooManyPixels`.
    package var pixels = 100_000_000
    /// Width or height of a source: `image.tooManyPixels`.
    package var edge = 65_535
    /// Frames of an animation that is to stay one: `image.tooManyFrames`.
    package var frames = 1_000
    /// Width × height × frames of an animation that is to stay one: `image.tooManyPixels`.
    package var animatedPixels = 100_000_000
    /// Bytes of a drawing's text (SVG), which says little about the memory that it takes: `image.tooManyPixels`.
    package var drawingBytes = 10 << 20

    /// Bands of a source's pixels (colour, alpha, and what else a TIFF carries): `image.unsupportedFormat`.
    package static let bands = 16

    /// The largest coordinate that a request may name.
    static let pixelCoordinates = 10_000_000

    package init() {}
}
