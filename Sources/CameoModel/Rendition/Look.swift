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
            self.source = source
            self.gravity = gravity
            self.opacity = opacity
            self.scale = scale
            self.margin = margin
        }
    }
}
