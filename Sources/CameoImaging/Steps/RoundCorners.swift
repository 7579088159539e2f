internal import CVips
internal import CameoModel

/// Applies `cornerRadius` and `corners`: everything outside the rounded shape becomes transparent.
enum RoundCorners: RenditionStep {
    static let name = "corners"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard plan.rendition.look.cornerRadius != nil else { return picture }
        guard let mask = mask(of: picture.size, inset: 0, plan) else { return nil }
        return masked(picture, by: mask)
    }

    /// A mask of the shape within a border of this width, which may be 0: 255 inside and 0 outside.
    static func mask(of size: PixelSize, inset: Int, _ plan: RenditionPlan) -> VipsPicture? {
        let look = plan.rendition.look
        guard look.cornerRadius != .circle else { return disc(in: size, inset: inset) }
        let inner = PixelSize(size.width - 2 * inset, size.height - 2 * inset)
        guard inner.width > 0, inner.height > 0 else { return VipsPicture(zeros: size) }
        let curve = look.cornerRadius.map { max(0, radius($0, in: size, plan) - Double(inset)) } ?? 0
        guard let shape = mask(of: inner, radius: curve, look.corners) else { return nil }
        guard inset > 0 else { return shape }
        return VipsPicture(zeros: size)?.replacing(left: inset, top: inset, with: shape)
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
        let place = PixelArea(placing: square, in: size, gravity: .center)
        guard let disc = mask(of: square, radius: Double(edge) / 2, Set(Rendition.Look.Corner.allCases)) else {
            return nil
        }
        return zeros.replacing(left: place.left, top: place.top, with: disc)
    }

    private static func masked(_ picture: borrowing VipsPicture, by mask: borrowing VipsPicture) -> VipsPicture? {
        guard picture.hasAlpha else { return picture.joined(with: mask) }
        guard let colors = picture.bands(from: 0, count: picture.colorBands),
            let left = picture.alphaBand()?.multiplied(by: mask)?.scaled(by: [1.0 / 255], adding: [0])?.roundedToBytes()
        else { return nil }
        return colors.joined(with: left)
    }
}

/// The share of each pixel inside a rounded corner, as an exact area, so that the curve is as smooth as 8 bits allow.
enum CornerCoverage {
    /// The mask of a rectangle's top left corner, 0 (outside) to 255, row by row, ``edge(radius:)`` pixels wide and
    /// high. The radius is in pixels and positive.
    static func mask(radius: Double) -> [UInt8] {
        let edge = edge(radius: radius)
        var mask = [UInt8](repeating: 255, count: edge * edge)
        for row in 0..<edge {
            for column in 0..<edge {
                let share = share(radius: radius, x: radius - Double(column), y: radius - Double(row))
                mask[row * edge + column] = UInt8((share * 255).rounded())
            }
        }
        return mask
    }

    /// The number of pixels that the curve touches on either axis.
    static func edge(radius: Double) -> Int { Int(radius.rounded(.up)) }

    /// The share of a pixel that lies inside the circle, or beyond its centre, where the rectangle's straight edges
    /// begin. `x` and `y` are the distances of the pixel's outer sides from the centre.
    private static func share(radius: Double, x: Double, y: Double) -> Double {
        let (innerX, innerY) = (max(0, x - 1), max(0, y - 1))
        if x * x + y * y <= radius * radius { return 1 }
        if innerX * innerX + innerY * innerY >= radius * radius { return 0 }
        // Everything beyond the centre is inside.
        return min(1, area(radius: radius, from: innerX, to: x, bottom: y - 1) + max(0, 1 - x))
    }

    /// The integral of the curve's height above `bottom`, within a pixel's height.
    private static func area(radius: Double, from start: Double, to end: Double, bottom: Double) -> Double {
        /// The position at which the curve has that height.
        func crossing(_ height: Double) -> Double {
            height <= 0 ? radius : (max(0, radius * radius - height * height)).squareRoot()
        }
        let full = min(end, max(start, crossing(bottom + 1)))
        let empty = min(end, max(full, crossing(bottom)))
        let under = antiderivative(empty, radius) - antiderivative(full, radius)
        return (full - start) + under - bottom * (empty - full)
    }

    /// The antiderivative of √(r² − t²).
    private static func antiderivative(_ t: Double, _ radius: Double) -> Double {
        let height = max(0, radius * radius - t * t).squareRoot()
        return (t * height + radius * radius * asin(min(1, t / radius))) / 2
    }
}
