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

    /// Bands per pixel of a source (colour, alpha, and a TIFF's extra channels): `image.unsupportedFormat`.
    package static let bands = 16

    /// The largest pixel coordinate in a request.
    static let pixelCoordinates = 10_000_000

    package init() {}
}
