/// Positions, points, areas and turns of a picture; and a rendition in one word.
extension Rendition {
    /// A position in a rectangle.
    public enum Gravity: Hashable, Sendable {
        case center, north, northeast, east, southeast, south, southwest, west, northwest
        /// The part with the most detail (`cover` only).
        case entropy
        /// The part that draws the eye: skin tones, bright colours, edges (`cover` only).
        case attention
        /// The point to centre, as far as the edges allow.
        case focus(FocalPoint)

        /// The gravities that have a word, in the order of the documentation.
        package static let words: [Gravity] = [
            .center, .north, .northeast, .east, .southeast, .south, .southwest, .west, .northwest, .entropy, .attention,
        ]

        /// Whether the picture's content decides.
        package var isSmart: Bool { self == .entropy || self == .attention }

        /// The word, as also used in JSON: the name of the case; nil for a focal point.
        package var word: String? { if case .focus = self { nil } else { "\(self)" } }

        package init?(word: String) {
            guard let gravity = Self.words.first(where: { $0.word == word }) else { return nil }
            self = gravity
        }
    }

    /// A point in a picture, as fractions of its width and height: (0, 0) is the top left corner, (1, 1) the bottom
    /// right.
    public struct FocalPoint: Hashable, Sendable {
        package static let range = 0.0...1.0

        /// Fractions of the width and height, 0…1.
        public var x, y: Double

        /// Creates a point from its distances to the left and top edges.
        public init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// A rectangle of a picture.
    public struct CropArea: Hashable, Sendable {
        /// The unit of the coordinates.
        public enum Unit: String, CaseIterable, Sendable {
            /// Whole pixels of the source.
            case pixels
            /// Fractions of the picture's width and height, 0…1.
            case fraction
        }

        /// The position and size.
        public var left, top, width, height: Double
        /// The unit of the coordinates.
        public var unit: Unit

        /// Creates an area from its top left corner and size.
        public init(left: Double, top: Double, width: Double, height: Double, unit: Unit = .pixels) {
            (self.left, self.top, self.width, self.height, self.unit) = (left, top, width, height, unit)
        }
    }

    /// A clockwise rotation in degrees.
    public enum Rotation: Int, CaseIterable, Sendable {
        case none = 0
        case quarter = 90
        case half = 180
        case threeQuarters = 270

        /// Whether the rotation swaps width and height.
        package var isSideways: Bool { self == .quarter || self == .threeQuarters }
    }

    /// A mirroring.
    public enum Flip: String, CaseIterable, Sendable {
        /// Swaps left and right.
        case horizontal
        /// Swaps top and bottom.
        case vertical
        case both
    }
}

extension Rendition.Gravity {
    /// Reads a word or `{"x":…,"y":…}`; nil if the field is absent.
    init?(_ reader: JSONObjectReader, _ key: String) throws(InvalidRequest) {
        guard let value = reader.value(key) else { return nil }
        let path = reader.path(of: key)
        switch value {
        case .string(let text):
            guard let gravity = Self(word: text) else {
                let words = Self.words.compactMap(\.word).joined(separator: ", ")
                throw reader.refusal(key, "must be one of \(words), or {\"x\":…,\"y\":…}, not \"\(text)\"")
            }
            self = gravity
        case .object:
            let point = try JSONObjectReader(value, at: path, fields: ["x", "y"])
            guard let x = try point.number("x", in: Rendition.FocalPoint.range),
                let y = try point.number("y", in: Rendition.FocalPoint.range)
            else { throw InvalidRequest(path: path, reason: "a focal point needs x and y, 0 to 1 each") }
            self = .focus(Rendition.FocalPoint(x: x, y: y))
        default:
            throw InvalidRequest(path: path, reason: "must be a word or {\"x\":…,\"y\":…}, not \(value.kind)")
        }
    }

    var json: JSONValue {
        switch self {
        case .focus(let point): .object(["x": .number(point.x), "y": .number(point.y)])
        default: .string(word ?? "center")
        }
    }
}

/// A rendition as people write it in one word: a box, optionally with a fit, a format and a quality after colons, as in
/// `256x256:cover:webp:q75`.
package struct RenditionSize: Hashable, Sendable {
    package let width: Int?
    package let height: Int?
    package private(set) var fit: Rendition.Fit?
    package private(set) var format: Rendition.Format?
    package private(set) var quality: Int?

    /// - Throws: ``InvalidRequest`` for text that is not of this form. Ranges are checked by ``Rendition/validate(at:)``.
    package init(parsing text: String) throws(InvalidRequest) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let edges = parts[0].split(separator: "x", omittingEmptySubsequences: false)
        let numbers = edges.map { Int($0) }
        guard edges.count == 2, zip(edges, numbers).allSatisfy({ $0.isEmpty || $1 != nil }),
            !edges.allSatisfy(\.isEmpty)
        else { throw InvalidRequest(path: "", reason: "must be WIDTHxHEIGHT, WIDTHx or xHEIGHT in pixels") }
        (width, height) = (numbers[0], numbers[1])
        for part in parts.dropFirst() {
            if let value = Rendition.Fit(rawValue: part) {
                fit = value
            } else if let value = Rendition.Format(word: part) {
                format = value
            } else if part.first == "q", let value = Int(part.dropFirst()) {
                quality = value
            } else {
                throw InvalidRequest(path: "", reason: "\"\(part)\" is not a fit, format or quality (q1 to q100)")
            }
        }
    }
}
