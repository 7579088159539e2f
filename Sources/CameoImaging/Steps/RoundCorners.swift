internal import CVips
internal import CameoModel

/// Applies `cornerRadius` and `corners`: everything outside the rounded shape becomes transparent.
enum RoundCorners: RenditionStep {
    static let name = "corners"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        let look = plan.rendition.look
        guard let cornerRadius = look.cornerRadius else { return picture }
        let size = PixelSize(picture.width, picture.height)
        let limit = Double(min(size.width, size.height)) / 2
        let mask: VipsPicture? =
            switch cornerRadius {
            case .pixels(let pixels):
                mask(of: size, radius: min(limit, plan.devicePixels(Double(pixels))), look.corners)
            case .fraction(let share):
                mask(of: size, radius: min(limit, share * 2 * limit), look.corners)
            case .circle: disc(in: size)
            }
        guard let mask else { return nil }
        return masked(picture, by: mask)
    }

    /// A mask of 255 inside and 0 outside; only the corners themselves take memory.
    private static func mask(
        of size: PixelSize,
        radius: Double,
        _ corners: Set<Rendition.Look.Corner>
    ) -> VipsPicture? {
        let edge = CornerCoverage.edge(radius: radius)
        guard let zeros = VipsPicture(zeros: size), var mask = zeros.scaled(by: [1], adding: [255])?.roundedToBytes(),
            let corner = VipsPicture(
                bytes: CornerCoverage.mask(radius: radius),
                size: PixelSize(edge, edge),
                bands: 1,
                space: VIPS_INTERPRETATION_B_W
            ),
            let mirrored = corner.flipped(VIPS_DIRECTION_HORIZONTAL)
        else { return nil }
        for place in Rendition.Look.Corner.allCases where corners.contains(place) {
            let isLeft = place == .topLeft || place == .bottomLeft
            let isTop = place == .topLeft || place == .topRight
            var tile = isLeft ? corner.sharingReference() : mirrored.sharingReference()
            if !isTop {
                guard let turned = tile.flipped(VIPS_DIRECTION_VERTICAL) else { return nil }
                tile = turned
            }
            let (left, top) = (isLeft ? 0 : size.width - edge, isTop ? 0 : size.height - edge)
            guard let next = mask.replacing(left: left, top: top, with: tile) else { return nil }
            mask = next
        }
        return mask
    }

    /// The mask of the largest centred circle.
    private static func disc(in size: PixelSize) -> VipsPicture? {
        let edge = min(size.width, size.height)
        let square = PixelSize(edge, edge)
        let place = Placement(of: square, in: size, gravity: .center)
        guard let disc = mask(of: square, radius: Double(edge) / 2, Set(Rendition.Look.Corner.allCases)),
            let zeros = VipsPicture(zeros: size)
        else { return nil }
        return zeros.replacing(left: place.left, top: place.top, with: disc)
    }

    private static func masked(_ picture: borrowing VipsPicture, by mask: borrowing VipsPicture) -> VipsPicture? {
        guard picture.hasAlpha else { return picture.joined(with: mask) }
        guard let colors = picture.bands(from: 0, count: picture.colorBands), let alpha = picture.alphaBand(),
            let product = alpha.multiplied(by: mask),
            let share = product.scaled(by: [1.0 / 255], adding: [0]),
            let left = share.roundedToBytes()
        else { return nil }
        return colors.joined(with: left)
    }
}
