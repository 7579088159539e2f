internal import CVips
internal import CameoModel

/// Applies `cornerRadius` and `corners`: everything outside the rounded shape becomes transparent.
enum RoundCorners: RenditionStep {
    static let name = "corners"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        let look = plan.rendition.look
        guard let cornerRadius = look.cornerRadius else { return picture }
        let size = PixelSize(picture.width, picture.height)
        let mask: VipsPicture? =
            switch cornerRadius {
            case .circle: disc(in: size, inset: 0)
            case .pixels, .fraction: mask(of: size, radius: radius(cornerRadius, in: size, plan), look.corners)
            }
        guard let mask else { return nil }
        return masked(picture, by: mask)
    }

    /// A mask of the shape within a border: 255 inside and 0 outside.
    static func mask(of size: PixelSize, inset: Int, _ plan: RenditionPlan) -> VipsPicture? {
        let look = plan.rendition.look
        guard look.cornerRadius != .circle else { return disc(in: size, inset: inset) }
        let inner = PixelSize(size.width - 2 * inset, size.height - 2 * inset)
        guard let zeros = VipsPicture(zeros: size) else { return nil }
        guard inner.width > 0, inner.height > 0 else { return zeros }
        let curve = look.cornerRadius.map { max(0, radius($0, in: size, plan) - Double(inset)) } ?? 0
        guard let shape = mask(of: inner, radius: curve, look.corners) else { return nil }
        return zeros.replacing(left: inset, top: inset, with: shape)
    }

    /// The radius in pixels, at most half the shorter edge.
    private static func radius(
        _ radius: Rendition.Look.CornerRadius,
        in size: PixelSize,
        _ plan: RenditionPlan
    ) -> Double {
        let limit = Double(min(size.width, size.height)) / 2
        return switch radius {
        case .pixels(let pixels): min(limit, plan.devicePixels(Double(pixels)))
        case .fraction(let share): min(limit, share * 2 * limit)
        case .circle: limit
        }
    }

    /// A mask of 255 inside and 0 outside; only the corners themselves take memory.
    private static func mask(
        of size: PixelSize,
        radius: Double,
        _ corners: Set<Rendition.Look.Corner>
    ) -> VipsPicture? {
        let edge = CornerCoverage.edge(radius: radius)
        guard let zeros = VipsPicture(zeros: size), var mask = zeros.scaled(by: [1], adding: [255])?.roundedToBytes()
        else { return nil }
        guard radius > 0 else { return mask }
        guard
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

    /// The mask of the largest centred circle, or of one whose radius is smaller by the inset.
    private static func disc(in size: PixelSize, inset: Int) -> VipsPicture? {
        guard let zeros = VipsPicture(zeros: size) else { return nil }
        let edge = min(size.width, size.height) - 2 * inset
        guard edge > 0 else { return zeros }
        let square = PixelSize(edge, edge)
        let place = Placement(of: square, in: size, gravity: .center)
        guard let disc = mask(of: square, radius: Double(edge) / 2, Set(Rendition.Look.Corner.allCases)) else {
            return nil
        }
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
