/// One requested output of a job: which part of the picture, the box that it fits, what is done to its look, and how it
/// is encoded.
///
/// Widths and heights are in pixels of the upright picture, after its EXIF orientation was applied. The JSON form is
/// `proto-json/thumbnail-request.schema.json`; its defaults are frozen as version 1, since thumbnail ids leave out
/// every field that equals its default.
public struct Rendition: Hashable, Sendable {
    /// How a picture of another shape meets the box, in sharp's words.
    public enum Fit: String, CaseIterable, Sendable {
        /// As large as fits inside the box, nothing cut.
        case inside
        /// Fills the box, what juts out is cut (by `gravity`).
        case cover
        /// As `inside`, then padded to the box with `background`.
        case contain
        /// Exactly the box, the shape distorted.
        case fill
        /// As small as covers the box on both sides, nothing cut.
        case outside
    }

    /// What is written. `auto` is WebP in this version: small, keeps alpha and animation, read everywhere. `source` is
    /// the source's own format where thumbnails can be written in it.
    public enum Format: String, CaseIterable, Sendable {
        case auto, source, jpeg, png, webp, avif, gif
    }

    package static let edgeRange = 1...16_383
    package static let qualityRange = 1...100
    package static let densityRange = 0.1...8.0
    package static let trimRange = 0...255
    package static let pageRange = 0...99_999

    /// What the requester calls it; unique within a request. Not part of the thumbnail's id.
    public var name: String
    /// The box in pixels, 1…16383; one of the two may be nil and then follows from the picture's shape.
    public var width, height: Int?
    /// How a picture of another shape meets the box.
    public var fit: Fit
    /// Keeps a picture that is smaller than the box at its own size. Drawings (SVG, PDF) have no size of their own and
    /// are always drawn as large as the box wants them.
    public var withoutEnlargement: Bool
    /// Which part stays when `cover` cuts, and where the picture stands when `contain` pads.
    public var gravity: Gravity
    /// Device pixel ratio: multiplies every length in pixels of this rendition (box, corner radius, overlay's margin).
    public var dpr = 1.0
    /// The page or frame of a source that has several, from 0.
    public var page = 0
    /// Cuts away uniform borders first: how far, of 255, a pixel may differ from the left upper one and still be
    /// border.
    public var trim: Int?
    /// The part of the (upright, trimmed) picture to work on.
    public var crop: CropArea?
    /// Turns the cropped picture, before it meets the box.
    public var rotate = Rotation.none
    /// Mirrors it after turning.
    public var flip: Flip?
    /// Shown through transparent pixels, in `contain`'s padding and behind round corners. Nil: nothing (formats without
    /// alpha: white).
    public var background: Color?
    /// What is done to the pixels after they have their size.
    public var look = Look()
    /// What is written.
    public var format: Format
    /// 1…100, or nil for the format's default (JPEG 80, WebP 80, AVIF 50, PNG with a palette 100; GIF and other PNG have
    /// none).
    public var quality: Int?
    /// How the pixels become bytes, besides `format` and `quality`.
    public var encoding = Encoding()

    /// Checked with the request. Without a `name` it has one that is made of box, fit and format.
    public init(
        name: String? = nil,
        width: Int? = nil,
        height: Int? = nil,
        fit: Fit = .inside,
        withoutEnlargement: Bool = true,
        gravity: Gravity = .center,
        format: Format = .auto,
        quality: Int? = nil,
        background: Color? = nil
    ) {
        self.width = width
        self.height = height
        self.fit = fit
        self.withoutEnlargement = withoutEnlargement
        self.gravity = gravity
        self.format = format
        self.quality = quality
        self.background = background
        self.name = name ?? Self.defaultName(width: width, height: height, fit: fit, format: format)
    }

    /// The box in device pixels: `width` and `height` times `dpr`, half a pixel rounded up, at least 1.
    package var boxWidth: Int? { width.map(inDevicePixels) }
    package var boxHeight: Int? { height.map(inDevicePixels) }

    private func inDevicePixels(_ length: Int) -> Int { max(1, Int(Double(length) * dpr + 0.5)) }

    /// `256x256-cover-webp`; parts that are not set or the default are left out.
    static func defaultName(width: Int?, height: Int?, fit: Fit, format: Format) -> String {
        var name = "\(width.map(String.init) ?? "")x\(height.map(String.init) ?? "")"
        if fit != .inside { name += "-\(fit.rawValue)" }
        if format != .auto { name += "-\(format.rawValue)" }
        return name
    }
}
