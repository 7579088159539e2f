internal import CameoSystem

/// Effects, watermarks and colours.
extension Rendition {
    /// Effects applied after resizing.
    public struct Look: Hashable, Sendable {
        /// A corner of a thumbnail.
        public enum Corner: String, CaseIterable, Sendable {
            case topLeft, topRight, bottomRight, bottomLeft
        }

        /// The radius of rounded corners.
        public enum CornerRadius: Hashable, Sendable {
            /// Pixels of the thumbnail, before `dpr`.
            case pixels(Int)
            /// A fraction of the shorter edge, 0…0.5; 0.5 makes semicircles.
            case fraction(Double)
            /// Keeps only the largest centred circle.
            case circle
        }

        package static let cornerRadiusRange = 1...16_383
        package static let cornerFractionRange = 0.001...0.5
        package static let borderRange = 1...4_096
        package static let blurRange = 0.3...100.0
        package static let sharpenRange = 0.1...10.0
        /// The range of brightness, saturation and contrast; 1 changes nothing.
        package static let factorRange = 0.0...10.0

        /// The radius of the corners; nil: square corners.
        public var cornerRadius: CornerRadius?
        /// The corners to round.
        public var corners = Set(Corner.allCases)
        /// The width of a border in pixels of the thumbnail, before `dpr`; nil: no border. It is drawn over the edges, so
        /// that the size stays the same, and follows rounded corners.
        public var border: Int?
        /// The border's colour.
        public var borderColor = Color.black
        /// The standard deviation of a Gaussian blur, in pixels of the thumbnail before `dpr`.
        public var blur: Double?
        /// The standard deviation of the sharpening mask, in pixels of the thumbnail before `dpr`.
        public var sharpen: Double?
        /// Removes all colour.
        public var grayscale = false
        /// Keeps lightness and takes the hue from this colour, in proportion to its opacity.
        public var tint: Color?
        /// Factors as in CSS filters, 0…10.
        public var brightness = 1.0, saturation = 1.0, contrast = 1.0
        /// A watermark.
        public var overlay: Overlay?

        /// Creates a look that changes nothing.
        public init() {}
    }

    /// A picture drawn over the thumbnail: a watermark.
    public struct Overlay: Hashable, Sendable {
        package static let opacityRange = 0.0...1.0
        package static let scaleRange = 0.01...1.0
        package static let marginRange = 0...4_096

        /// The overlay's URI, of the same kinds as a request's source.
        public var source: String
        /// The overlay's position.
        public var gravity: Gravity
        /// The opacity, 0…1.
        public var opacity: Double
        /// The fraction of the thumbnail's width and height that the overlay is resized to fit; nil keeps its own size
        /// unless it is larger than the thumbnail.
        public var scale: Double?
        /// The distance from the thumbnail's edges, in pixels before `dpr`.
        public var margin: Int

        /// Creates an overlay, which is validated with the request.
        public init(
            source: String,
            gravity: Gravity = .southeast,
            opacity: Double = 1,
            scale: Double? = nil,
            margin: Int = 0
        ) {
            (self.source, self.gravity, self.opacity, self.scale) = (source, gravity, opacity, scale)
            self.margin = margin
        }
    }
}

extension Rendition.Look {
    static let fields = [
        "cornerRadius", "corners", "border", "borderColor", "blur", "sharpen", "grayscale", "tint", "brightness",
        "saturation", "contrast", "overlay",
    ]

    init(_ reader: JSONObjectReader) throws(InvalidRequest) {
        self.init()
        cornerRadius = try CornerRadius(reader, "cornerRadius")
        if let words = try reader.choices("corners", Corner.self) { corners = words }
        border = try reader.integer("border", in: Self.borderRange)
        borderColor = try reader.color("borderColor") ?? .black
        blur = try reader.number("blur", in: Self.blurRange)
        sharpen = try reader.number("sharpen", in: Self.sharpenRange)
        grayscale = try reader.bool("grayscale") ?? false
        tint = try reader.color("tint")
        brightness = try reader.number("brightness", in: Self.factorRange) ?? 1
        saturation = try reader.number("saturation", in: Self.factorRange) ?? 1
        contrast = try reader.number("contrast", in: Self.factorRange) ?? 1
        if let overlay = reader.value("overlay") {
            self.overlay = try Rendition.Overlay(json: overlay, at: reader.path(of: "overlay"))
        }
    }

    /// Adds the fields that differ from their defaults.
    func define(_ members: inout [String: JSONValue]) {
        if let cornerRadius { members["cornerRadius"] = cornerRadius.json }
        if corners != Set(Corner.allCases) {
            members["corners"] = .array(Corner.allCases.filter(corners.contains).map { .string($0.rawValue) })
        }
        if let border { members["border"] = .integer(Int64(border)) }
        if borderColor != .black { members["borderColor"] = .string(borderColor.description) }
        if let blur { members["blur"] = .number(blur) }
        if let sharpen { members["sharpen"] = .number(sharpen) }
        if grayscale { members["grayscale"] = .bool(true) }
        if let tint { members["tint"] = .string(tint.description) }
        if brightness != 1 { members["brightness"] = .number(brightness) }
        if saturation != 1 { members["saturation"] = .number(saturation) }
        if contrast != 1 { members["contrast"] = .number(contrast) }
        if let overlay { members["overlay"] = .object(overlay.definition) }
    }

    /// Checks combinations.
    func check(at path: String) throws(InvalidRequest) {
        if corners != Set(Corner.allCases) {
            guard !corners.isEmpty else { throw Rendition.refusal(path, "corners", "must name at least one corner") }
            guard let cornerRadius, cornerRadius != .circle else {
                throw Rendition.refusal(path, "corners", "needs a cornerRadius in pixels or as a fraction")
            }
        }
        guard borderColor == .black || border != nil else {
            throw Rendition.refusal(path, "borderColor", "needs a border")
        }
    }
}

extension Rendition.Look.CornerRadius {
    /// Reads pixels, `{"fraction":…}` or `"circle"`; nil if the field is absent.
    init?(_ reader: JSONObjectReader, _ key: String) throws(InvalidRequest) {
        guard let value = reader.value(key) else { return nil }
        let path = reader.path(of: key)
        switch value {
        case .string("circle"): self = .circle
        case .object:
            let shares = try JSONObjectReader(value, at: path, fields: ["fraction"])
            guard let share = try shares.number("fraction", in: Rendition.Look.cornerFractionRange) else {
                throw InvalidRequest(path: path, reason: "needs a fraction")
            }
            self = .fraction(share)
        case .integer, .number:
            guard let pixels = try reader.integer(key, in: Rendition.Look.cornerRadiusRange) else { return nil }
            self = .pixels(pixels)
        default:
            throw reader.refusal(key, "must be whole pixels, {\"fraction\":…} or \"circle\", not \(value.kind)")
        }
    }

    var json: JSONValue {
        switch self {
        case .pixels(let pixels): .integer(Int64(pixels))
        case .fraction(let share): .object(["fraction": .number(share)])
        case .circle: .string("circle")
        }
    }
}

/// An sRGB colour with alpha, 0…255 each, written `#rrggbbaa`.
public struct Color: Hashable, Sendable, CustomStringConvertible {
    public var red, green, blue, alpha: UInt8

    /// Opaque white.
    public static let white = Color(red: 255, green: 255, blue: 255, alpha: 255)
    /// Opaque black.
    public static let black = Color(red: 0, green: 0, blue: 0, alpha: 255)
    /// Transparent black.
    public static let transparent = Color(red: 0, green: 0, blue: 0, alpha: 0)

    /// Creates a colour from its channels, 0…255 each.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    /// Parses `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`, in either case, like CSS.
    public init?(_ text: String) {
        guard text.first == "#", text.dropFirst().allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        var digits = String(text.dropFirst())
        if digits.count == 3 || digits.count == 4 { digits = String(digits.flatMap { [$0, $0] }) }
        if digits.count == 6 { digits += "ff" }
        guard digits.count == 8, let value = UInt32(digits, radix: 16) else { return nil }
        self.init(
            red: UInt8(value >> 24),
            green: UInt8(value >> 16 & 255),
            blue: UInt8(value >> 8 & 255),
            alpha: UInt8(value & 255)
        )
    }

    /// `#rrggbbaa`
    public var description: String { "#" + Hexadecimal.encode([red, green, blue, alpha]) }
}
