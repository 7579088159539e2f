internal import CameoModel

/// How much the decoder itself shrinks the picture, at almost no cost.
enum ShrinkOnLoad: Hashable {
    case none
    /// A JPEG's divisor: 2, 4 or 8.
    case divisor(Int)
    /// A WebP's scale, 0 < scale < 1, or any scale of a vector drawing, which is drawn at that size.
    case scale(Double)

    var divisor: Int32 { if case .divisor(let divisor) = self { Int32(divisor) } else { 1 } }

    var scale: Double { if case .scale(let scale) = self { scale } else { 1 } }

    /// JPEG and WebP keep a factor of two for the actual resize, because their decoders' shrink is a plain average. WebP with
    /// alpha is not shrunk, because its decoder would mix the colours of transparent pixels into visible ones.
    init(
        for format: PictureFormat,
        from source: PixelSize,
        measuredBy measure: Int,
        to target: PixelSize,
        hasAlpha: Bool
    ) {
        let common = min(
            Double(source.width) / Double(target.width),
            Double(source.height) / Double(target.height)
        )
        switch format {
        case .jpeg where common >= 16: self = .divisor(8)
        case .jpeg where common >= 8: self = .divisor(4)
        case .jpeg where common >= 4: self = .divisor(2)
        case .webp where common > 2 && !hasAlpha: self = .scale(2 / common)
        case .svg, .pdf: self = .scale(Double(measure) / common)
        case .initials where common != 1: self = .scale(1 / common)
        case .jpeg, .webp, .png, .gif, .tiff, .heif, .avif, .jxl, .initials, .video: self = .none
        }
    }
}
