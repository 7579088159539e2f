internal import CVips
internal import CameoModel

/// Applies `rotate`, then `flip`.
enum Turn: RenditionStep {
    static let name = "turn"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        var result = picture
        if let angle = angle(of: plan.rendition.rotate) {
            guard let rotated = result.rotated(by: angle) else { return nil }
            result = rotated
        }
        for direction in directions(of: plan.rendition.flip) {
            guard let flipped = result.flipped(direction) else { return nil }
            result = flipped
        }
        return result
    }

    private static func angle(of rotation: Rendition.Rotation) -> VipsAngle? {
        switch rotation {
        case .none: nil
        case .quarter: VIPS_ANGLE_D90
        case .half: VIPS_ANGLE_D180
        case .threeQuarters: VIPS_ANGLE_D270
        }
    }

    private static func directions(of flip: Rendition.Flip?) -> [VipsDirection] {
        switch flip {
        case nil: []
        case .horizontal: [VIPS_DIRECTION_HORIZONTAL]
        case .vertical: [VIPS_DIRECTION_VERTICAL]
        case .both: [VIPS_DIRECTION_HORIZONTAL, VIPS_DIRECTION_VERTICAL]
        }
    }
}
