internal import CameoModel

/// Applies `brightness`, `contrast` and `saturation`, in this order, in one pass.
enum AdjustColor: RenditionStep {
    static let name = "color adjustment"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        let look = plan.rendition.look
        let matrix = ColorMatrix(
            brightness: look.brightness,
            contrast: look.contrast,
            saturation: look.saturation
        )
        guard !matrix.changesNothing else { return picture }
        return picture.changingColors { adjusted($0, matrix) }
    }

    private static func adjusted(_ colors: borrowing VipsPicture, _ matrix: ColorMatrix) -> VipsPicture? {
        let changed: VipsPicture
        if colors.bands < 3 {
            guard let scaled = colors.scaled(by: [matrix.gain], adding: [matrix.offset]) else { return nil }
            changed = scaled
        } else {
            guard let mixed = colors.mixed(by: matrix.factors),
                let moved = mixed.scaled(by: [1], adding: [matrix.offset])
            else { return nil }
            changed = moved
        }
        return changed.roundedToBytes()
    }
}
