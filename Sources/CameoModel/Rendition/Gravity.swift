extension Rendition {
    /// A place in a rectangle.
    public enum Gravity: Hashable, Sendable {
        case center, north, northeast, east, southeast, south, southwest, west, northwest
        /// The part with the most detail (`cover` only).
        case entropy
        /// The part that draws the eye: skin tones, bright colours, edges (`cover` only).
        case attention
        /// The point that should be in the middle, as far as the edges allow.
        case focus(FocalPoint)

        /// Those that a word names, in the order of the documentation.
        package static let words: [Gravity] = [
            .center, .north, .northeast, .east, .southeast, .south, .southwest, .west, .northwest, .entropy, .attention,
        ]

        /// Whether the pixels decide.
        package var isSmart: Bool { self == .entropy || self == .attention }

        /// How it is written, also in JSON; nil for a focal point.
        package var word: String? {
            switch self {
            case .center: "center"
            case .north: "north"
            case .northeast: "northeast"
            case .east: "east"
            case .southeast: "southeast"
            case .south: "south"
            case .southwest: "southwest"
            case .west: "west"
            case .northwest: "northwest"
            case .entropy: "entropy"
            case .attention: "attention"
            case .focus: nil
            }
        }

        package init?(word: String) {
            guard let gravity = Self.words.first(where: { $0.word == word }) else { return nil }
            self = gravity
        }
    }

    /// A point of a picture, as shares of its width and height: (0, 0) is the left upper corner, (1, 1) the right lower
    /// one.
    public struct FocalPoint: Hashable, Sendable {
        package static let range = 0.0...1.0

        /// Shares, 0…1 each.
        public var x, y: Double

        /// From the left upper corner.
        public init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }
    }
}
