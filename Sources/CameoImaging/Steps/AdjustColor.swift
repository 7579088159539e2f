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
        guard let shaded = colors.mapped(throughNumbers: matrix.shades.map(Float.init)),
            let bytes = colors.bands < 3 ? shaded.roundedToBytes() : shaded.mixed(by: matrix.factors)?.roundedToBytes()
        else { return nil }
        return bytes.reinterpreted(as: colors.interpretation)
    }
}
