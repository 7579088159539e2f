/// One requested output of a job: a box, how the picture fits it, and how it is encoded.
///
/// Widths and heights are in pixels of the upright picture, after its EXIF orientation was applied. The JSON form is
/// `proto-json/thumbnail-request.schema.json`; its defaults are frozen as version 1, since thumbnail ids leave out
/// every field that equals its default.
package struct Rendition: Hashable, Sendable {
    /// How a picture of another shape meets the box, in sharp's words.
    package enum Fit: String, CaseIterable, Sendable {
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

    /// Which part stays when `cover` cuts, and where the picture stands when `contain` pads.
    package enum Gravity: String, CaseIterable, Sendable {
        case center, north, northeast, east, southeast, south, southwest, west, northwest
        /// The part with the most detail (`cover` only).
        case entropy
        /// The part that draws the eye: skin tones, bright colours, edges (`cover` only).
        case attention
    }

    /// `auto` is WebP in this version: small, keeps alpha, read everywhere.
    package enum Format: String, CaseIterable, Sendable {
        case auto, jpeg, png, webp, avif
    }

    package static let edgeRange = 1...16_383
    package static let qualityRange = 1...100

    /// What the requester calls it; unique within a request. Not part of the thumbnail's id.
    package var name: String
    /// The box in pixels; one of the two may be nil and then follows from the picture's shape.
    package var width: Int?
    package var height: Int?
    package var fit: Fit
    /// Keeps a picture that is smaller than the box at its own size.
    package var withoutEnlargement: Bool
    package var gravity: Gravity
    package var format: Format
    /// 1…100, or nil for the format's default (JPEG 80, WebP 80, AVIF 50; PNG has none).
    package var quality: Int?
    /// Shown through transparent pixels and in `contain`'s padding. Nil: nothing (formats without alpha: white).
    package var background: Color?

    package init(
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

    /// `256x256-cover-webp`; parts that are not set or the default are left out.
    static func defaultName(width: Int?, height: Int?, fit: Fit, format: Format) -> String {
        var name = "\(width.map(String.init) ?? "")x\(height.map(String.init) ?? "")"
        if fit != .inside { name += "-\(fit.rawValue)" }
        if format != .auto { name += "-\(format.rawValue)" }
        return name
    }
}
