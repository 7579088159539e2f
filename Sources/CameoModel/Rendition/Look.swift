extension Rendition {
    /// What is done to the pixels after they have their size.
    public struct Look: Hashable, Sendable {
        /// A corner of a thumbnail.
        public enum Corner: String, CaseIterable, Sendable {
            case topLeft, topRight, bottomRight, bottomLeft
        }

        /// How round the corners are.
        public enum CornerRadius: Hashable, Sendable {
            /// Of the thumbnail, before `dpr`.
            case pixels(Int)
            /// Of the shorter edge, 0…0.5; 0.5 makes half circles.
            case fraction(Double)
            /// Only the largest centred circle is left.
            case circle
        }

        package static let cornerRadiusRange = 1...16_383
        package static let cornerFractionRange = 0.001...0.5
        package static let blurRange = 0.3...100.0
        package static let sharpenRange = 0.1...10.0
        /// Of brightness, saturation and contrast: 1 changes nothing.
        package static let factorRange = 0.0...10.0

        /// How round the corners are; nil: not at all.
        public var cornerRadius: CornerRadius?
        /// Those that are round.
        public var corners = Set(Corner.allCases)
        /// Standard deviation of the Gaussian, pixels of the thumbnail before `dpr`.
        public var blur: Double?
        /// Standard deviation of the sharpening mask, pixels of the thumbnail before `dpr`.
        public var sharpen: Double?
        /// Takes the colours away.
        public var grayscale = false
        /// Keeps light and dark and takes every hue from this colour, as far as it is opaque.
        public var tint: Color?
        /// Factors as in CSS filters, 0…10.
        public var brightness = 1.0, saturation = 1.0, contrast = 1.0
        /// A watermark.
        public var overlay: Overlay?

        /// Changes nothing.
        public init() {}
    }

    /// A second picture that is drawn over the first: a watermark.
    public struct Overlay: Hashable, Sendable {
        package static let opacityRange = 0.0...1.0
        package static let scaleRange = 0.01...1.0
        package static let marginRange = 0...4_096

        /// Its URI, of the same kinds as a request's source.
        public var source: String
        /// Where it stands.
        public var gravity: Gravity
        /// 0…1.
        public var opacity: Double
        /// It is resized to fit into this share of the thumbnail's width and height; nil keeps its own size, unless it
        /// would jut out.
        public var scale: Double?
        /// From the thumbnail's edges, pixels before `dpr`.
        public var margin: Int

        /// Checked with the request.
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
