internal import CameoModel

/// Chooses how `auto` is written: as WebP, lossy, or lossless if that is smaller.
///
/// Measured with libvips 8.14.1: of 102 thumbnails (51 pictures, 256 and 900 pixels) lossless was smaller for 13, all
/// of them drawings with few colours, by up to 80 per cent. It takes about twice as long as lossy, so it is tried only
/// for pictures that look like such a drawing.
enum AutoChoice {
    /// Lossless encoding of larger pictures takes too long.
    private static let mostPixels = 1_000_000
    /// The sampling grid's points per side, and the most colours that they may have: 221 at most where lossless was
    /// smaller, while a photograph nearly always has over 1,000.
    private static let grid = 64
    private static let mostColors = 512
    /// libwebp's method: 0 leaves a quarter more bytes, more than 1 saves hardly any.
    private static let effort = 1

    /// Whether lossless is worth trying. The picture must be in memory.
    static func mayBeLossless(_ picture: borrowing VipsPicture, _ plan: RenditionPlan) -> Bool {
        guard plan.rendition.format == .auto, !plan.rendition.encoding.lossless, !plan.rendition.encoding.nearLossless,
            plan.animation == nil,
            picture.width * picture.height <= mostPixels
        else { return false }
        switch plan.sourceFormat {
        case .png, .gif, .svg, .pdf, .initials: return hasFewColors(picture)
        case .jpeg, .webp, .tiff, .heif, .avif, .jxl, .video: return false
        }
    }

    static func losslessSaver(for plan: RenditionPlan) -> VipsSaver {
        .losslessWebP(effort: plan.rendition.encoding.effort.map(RenditionPlan.webPMethod) ?? effort)
    }

    private static func hasFewColors(_ picture: borrowing VipsPicture) -> Bool {
        let (width, height, bands) = (picture.width, picture.height, picture.bands)
        let (columns, rows) = (min(grid, width), min(grid, height))
        let isSo = picture.withPixels { pixels in
            var colors: Set<Int> = []
            for row in 0..<rows {
                for column in 0..<columns {
                    let first = (row * height / rows * width + column * width / columns) * bands
                    let color = (first..<first + bands).reduce(0) { $0 << 8 | Int(pixels[$1]) }
                    if colors.insert(color).inserted, colors.count > mostColors { return false }
                }
            }
            return true
        }
        return isSo ?? false
    }
}
