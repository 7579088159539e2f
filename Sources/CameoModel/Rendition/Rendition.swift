/// One requested output of a job: the part of the picture, the box that it fits, the effects and the encoding.
///
/// Widths and heights are in pixels of the upright picture, after its EXIF orientation is applied. The JSON form is
/// `proto-json/thumbnail-request.schema.json`. Its defaults are frozen as version 1, because thumbnail ids omit every
/// field that equals its default.
public struct Rendition: Hashable, Sendable {
    /// How a picture with a different aspect ratio fits the box, in sharp's terms.
    public enum Fit: String, CaseIterable, Sendable {
        /// As large as fits inside the box, without cropping.
        case inside
        /// Fills the box; the excess is cropped according to `gravity`.
        case cover
        /// Like `inside`, then padded to the box with `background`.
        case contain
        /// Exactly the box, ignoring the aspect ratio.
        case fill
        /// As small as possible while covering the box, without cropping.
        case outside
    }

    package static let edgeRange = 1...16_383
    package static let qualityRange = 1...100
    package static let densityRange = 0.1...8.0
    package static let trimRange = 0...255
    package static let pageRange = 0...99_999

    /// The rendition's name, unique within a request. It is not part of the thumbnail's id.
    public var name: String
    /// The box in pixels, 1…16383; one of the two may be nil and then follows from the aspect ratio.
    public var width, height: Int?
    /// How a picture with a different aspect ratio fits the box.
    public var fit: Fit
    /// Keeps a picture that is smaller than the box at its own size. Vector sources (SVG, PDF) are always drawn at the
    /// size of the box.
    public var withoutEnlargement: Bool
    /// The part that `cover` keeps, and the position of the picture that `contain` pads.
    public var gravity: Gravity
    /// The device pixel ratio, which multiplies every pixel length of the rendition (box, corner radius, overlay
    /// margin).
    public var dpr = 1.0
    /// The page or frame of a source that has several, counted from 0.
    public var page = 0
    /// The moment of a video that is shown; it has no effect on pictures.
    public var time = FrameTime.auto
    /// Whether exactly the frame at `time` is shown, in place of the nearest keyframe, which is found much faster. Only
    /// for seconds and percentages.
    public var accurate = false
    /// Makes a sheet of many moments of a video instead, in which the box is a tile's; it has no effect on pictures.
    public var storyboard: Storyboard?
    /// Trims uniform borders first: how much, of 255, a pixel may differ from the top left one and still be border.
    public var trim: Int?
    /// The part of the upright, trimmed picture to use.
    public var crop: CropArea?
    /// Rotates the cropped picture before it is resized.
    public var rotate = Rotation.none
    /// Mirrors the picture after rotation.
    public var flip: Flip?
    /// The colour behind transparent pixels, `contain`'s padding and rounded corners; nil: transparent (white in
    /// formats without alpha).
    public var background: Color?
    /// Effects applied after resizing.
    public var look = Look()
    /// The output format.
    public var format: Format
    /// The quality, 1…100; nil for the format's default (JPEG 80, WebP 80, AVIF 50, PNG with a palette 100; GIF and
    /// other PNG have none).
    public var quality: Int?
    /// Encoding options besides `format` and `quality`.
    public var encoding = Encoding()

    /// Creates a rendition, which is validated with the request. The default `name` is derived from box, fit and
    /// format.
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
        (self.width, self.height, self.fit, self.withoutEnlargement) = (width, height, fit, withoutEnlargement)
        (self.gravity, self.format, self.quality, self.background) = (gravity, format, quality, background)
        self.name = name ?? Self.defaultName(width: width, height: height, fit: fit, format: format)
    }

    /// The box in device pixels: `width` and `height` times `dpr`, half a pixel rounded up, at least 1.
    package var boxWidth: Int? { width.map(inDevicePixels) }
    package var boxHeight: Int? { height.map(inDevicePixels) }

    private func inDevicePixels(_ length: Int) -> Int { max(1, Int(Double(length) * dpr + 0.5)) }

    /// A name such as `256x256-cover-webp`; parts that are unset or default are omitted.
    static func defaultName(width: Int?, height: Int?, fit: Fit, format: Format) -> String {
        var name = "\(width.map(String.init) ?? "")x\(height.map(String.init) ?? "")"
        if fit != .inside { name += "-\(fit.rawValue)" }
        if format != .auto { name += "-\(format.rawValue)" }
        return name
    }

    private func checkEncoding(at path: String) throws(InvalidRequest) {
        var set: [String: JSONValue] = [:]
        encoding.define(&set)
        for option in EncodingOption.allCases where set[option.rawValue] != nil || option == .quality && quality != nil
        {
            if let objection = objection(to: option) { throw Self.refusal(path, option.rawValue, objection) }
        }
        let choices = [
            ("page", page != 0, "selects one frame, but animated asks for all of them"),
            ("time", time != .auto, "selects one moment, but animated asks for many"),
            ("animated", storyboard != nil, "shows frames one after another, but a storyboard shows all at once"),
        ]
        for (field, isSet, reason) in choices where encoding.animated && isSet {
            throw Self.refusal(path, field, reason)
        }
        guard encoding.keepProfile else { return }
        let colors = [
            ("background", background != nil), ("border", look.border != nil), ("tint", look.tint != nil),
            ("overlay", look.overlay != nil),
        ]
        for (field, isSet) in colors where isSet {
            throw Self.refusal(path, field, "is in sRGB, but keepProfile leaves the picture in its own colour space")
        }
    }

    static func list(_ items: [JSONValue], at path: String) throws(InvalidRequest) -> [Rendition] {
        let maximumCount = ThumbnailRequest.maximumRenditions
        guard (1...maximumCount).contains(items.count) else {
            throw InvalidRequest(path: path, reason: "must have 1 to \(maximumCount) entries, not \(items.count)")
        }
        var (renditions, names): ([Rendition], Set<String>) = ([], [])
        for (index, item) in items.enumerated() {
            let place = "\(path)[\(index)]"
            let rendition = try Rendition(json: item, at: place)
            guard names.insert(rendition.name).inserted else {
                throw refusal(place, "name", "\"\(rendition.name)\" is already used by an earlier rendition")
            }
            renditions.append(rendition)
        }
        let overlays = Set(renditions.compactMap(\.look.overlay?.source)).count
        guard overlays <= ThumbnailRequest.maximumOverlays else {
            let reason = "have \(overlays) different overlays, more than \(ThumbnailRequest.maximumOverlays)"
            throw InvalidRequest(path: path, reason: reason)
        }
        return renditions
    }

    /// Checks what its JSON is checked for: ranges and combinations.
    package func validate(at path: String) throws(InvalidRequest) { _ = try Rendition(json: json, at: path) }

    /// Checks combinations. An option that would have no effect is refused rather than ignored.
    func check(at path: String) throws(InvalidRequest) {
        try checkGeometry(at: path)
        try look.check(at: path)
        try checkEncoding(at: path)
        guard (1...64).contains(name.utf8.count), name.first != ".",
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) })
        else {
            let rule = "must be 1 to 64 of A-Z a-z 0-9 . _ - and not begin with a dot"
            throw Self.refusal(path, "name", "\(rule), not \"\(name)\"")
        }
    }

    static func refusal(_ path: String, _ field: String, _ reason: String) -> InvalidRequest {
        InvalidRequest(path: path.isEmpty ? field : "\(path).\(field)", reason: reason)
    }

    static func check<Number: Comparable>(
        _ number: Number?,
        in range: ClosedRange<Number>,
        _ path: String,
        _ field: String
    ) throws(InvalidRequest) {
        guard let number, !range.contains(number) else { return }
        throw refusal(path, field, "must be between \(range.lowerBound) and \(range.upperBound), not \(number)")
    }

    private func checkGeometry(at path: String) throws(InvalidRequest) {
        guard width != nil || height != nil else {
            throw InvalidRequest(path: path, reason: "needs a width, a height or both")
        }
        for (field, box) in [("width", boxWidth), ("height", boxHeight)] {
            guard let box, !Self.edgeRange.contains(box) else { continue }
            throw Self.refusal(path, "dpr", "makes a \(field) of \(box) pixels, more than \(Self.edgeRange.upperBound)")
        }
        if accurate, time == .auto || time == .cover {
            throw Self.refusal(path, "accurate", "is for a time in seconds or per cent")
        }
        if storyboard != nil, time != .auto {
            throw Self.refusal(path, "time", "selects one moment, but a storyboard shows the whole video")
        }
        if let objection = objectionToGravity { throw Self.refusal(path, "gravity", objection) }
    }

    /// Why the gravity would have no effect; nil if it has one or is the default.
    package var objectionToGravity: String? {
        guard gravity != .center else { return nil }
        guard fit == .cover || fit == .contain else {
            return "is for cover and contain: \(fit.rawValue) neither cuts nor pads"
        }
        guard width != nil, height != nil else {
            return "is for a box of width and height: one edge alone is neither cut nor padded"
        }
        guard fit == .contain, gravity.isSmart, let word = gravity.word else { return nil }
        return "\(word) chooses what cover cuts; contain cuts nothing"
    }
}
