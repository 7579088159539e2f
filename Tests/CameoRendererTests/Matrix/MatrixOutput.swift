import CameoModel
import TestSupport

/// One rendition of a case, and where the scene's 240 × 160 pixels lie in it: worked out here by hand.
struct MatrixOutput: Sendable {
    enum Shape: Sendable {
        /// 240 × 160 inside 120 × 120.
        case inside
        /// The same inside 40 × 40, where decoders that can shrink do.
        case small
        /// 96 × 96 filled, 24 columns cut at either side.
        case cover
        /// 100 × 100 with 16 rows above the picture and 17 below.
        case contain
        /// 80 × 80, distorted.
        case fill
    }

    let shape: Shape
    let format: Rendition.Format
    let background: Color?
    let isAnimated: Bool
    let isLossless: Bool

    private init(
        _ shape: Shape,
        _ format: Rendition.Format,
        on background: Color? = nil,
        isAnimated: Bool = false,
        isLossless: Bool = false
    ) {
        (self.shape, self.format, self.background) = (shape, format, background)
        (self.isAnimated, self.isLossless) = (isAnimated, isLossless)
    }

    static func inside(_ format: Rendition.Format, on background: Color? = nil) -> Self {
        Self(.inside, format, on: background)
    }
    static func small(_ format: Rendition.Format) -> Self { Self(.small, format) }
    static func cover(_ format: Rendition.Format) -> Self { Self(.cover, format) }
    static func fill(_ format: Rendition.Format) -> Self { Self(.fill, format) }
    static func contain(_ format: Rendition.Format, on background: Color) -> Self {
        Self(.contain, format, on: background)
    }
    static func animated(_ format: Rendition.Format, _ shape: Shape = .inside) -> Self {
        Self(shape, format, isAnimated: true)
    }
    static func lossless(_ format: Rendition.Format, _ shape: Shape = .inside) -> Self {
        Self(shape, format, isLossless: true)
    }

    func rendition(named name: String) -> Rendition {
        let (width, height, fit): (Int, Int, Rendition.Fit) =
            switch shape {
            case .inside: (120, 120, .inside)
            case .small: (40, 40, .inside)
            case .cover: (96, 96, .cover)
            case .contain: (100, 100, .contain)
            case .fill: (80, 80, .fill)
            }
        var rendition = Rendition(
            name: name,
            width: width,
            height: height,
            fit: fit,
            format: format,
            background: background
        )
        rendition.encoding.animated = isAnimated
        rendition.encoding.lossless = isLossless
        return rendition
    }

    /// Width and height of the scene as it is resized.
    var resized: (width: Int, height: Int) {
        switch shape {
        case .inside: (120, 80)
        case .small: (40, 27)
        case .cover: (144, 96)
        case .contain: (100, 67)
        case .fill: (80, 80)
        }
    }

    /// Width and height of the thumbnail.
    var edges: [Int] {
        switch shape {
        case .inside: [120, 80]
        case .small: [40, 27]
        case .cover: [96, 96]
        case .contain: [100, 100]
        case .fill: [80, 80]
        }
    }

    /// The thumbnail that the resized scene should make; where a format has no alpha, on white.
    func composed(_ resized: Picture, hasAlpha: Bool) -> Picture {
        var picture = resized
        switch shape {
        case .inside, .small, .fill: break
        case .cover: picture = resized.cropped(left: 24, top: 0, width: 96, height: 96)
        case .contain:
            picture = resized.padded(left: 0, top: 16, width: 100, height: 100, with: background ?? .transparent)
        }
        if let background { return picture.on(background) }
        return hasAlpha ? picture : picture.on(.white)
    }

    /// Points well inside the scene's four corners, in the order of ``Scene/cornerColors``; none where they were cut off.
    var cornerPoints: [(x: Int, y: Int)] {
        guard shape != .cover else { return [] }
        let (width, height) = resized
        let top = shape == .contain ? 16 : 0
        let (x, y) = (width / 12, height / 8)
        return [
            (x, top + y), (width - 1 - x, top + y), (x, top + height - 1 - y), (width - 1 - x, top + height - 1 - y),
        ]
    }
}

extension MatrixOutput: CustomStringConvertible {
    var description: String {
        "\(isAnimated ? "animated " : "")\(isLossless ? "lossless " : "")\(shape) \(format.rawValue)"
            + (background.map { " on \($0)" } ?? "")
    }
}
