extension Rendition {
    /// What is done to the pixels after they have their size.
    package struct Look: Hashable, Sendable {
        package enum Corner: String, CaseIterable, Sendable {
            case topLeft, topRight, bottomRight, bottomLeft
        }

        /// How round the corners are.
        package enum CornerRadius: Hashable, Sendable {
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
        /// Of brightness, saturation and contrast, which are factors as in CSS filters: 1 changes nothing.
        package static let factorRange = 0.0...10.0

        package var cornerRadius: CornerRadius?
        /// Those that are round.
        package var corners = Set(Corner.allCases)
        /// Standard deviation of the Gaussian, pixels of the thumbnail before `dpr`.
        package var blur: Double?
        /// Standard deviation of the sharpening mask, pixels of the thumbnail before `dpr`.
        package var sharpen: Double?
        package var grayscale = false
        /// Keeps light and dark and takes every hue from this colour, as far as it is opaque.
        package var tint: Color?
        package var brightness = 1.0
        package var saturation = 1.0
        package var contrast = 1.0
        package var overlay: Overlay?

        package init() {}
    }

    /// A second picture that is drawn over the first: a watermark.
    package struct Overlay: Hashable, Sendable {
        package static let opacityRange = 0.0...1.0
        package static let scaleRange = 0.01...1.0
        package static let marginRange = 0...4_096

        /// Its URI, of the same kinds as a request's source.
        package var source: String
        /// Where it stands.
        package var gravity: Gravity
        /// 0…1.
        package var opacity: Double
        /// It is resized to fit into this share of the thumbnail's width and height; nil keeps its own size, unless it
        /// would jut out.
        package var scale: Double?
        /// From the thumbnail's edges, pixels before `dpr`.
        package var margin: Int

        package init(
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
