internal import CVips
internal import CameoModel

/// `grayscale`: luminance, one band. Of light, not of the encoded numbers; red, green and blue weigh 0.2, 0.7 and 0.1, as
/// libvips has them.
enum Grayscale: RenditionStep {
    static let name = "grayscale"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard plan.rendition.look.grayscale, picture.colorBands >= 3 else { return picture }
        guard let grey = picture.converted(to: VIPS_INTERPRETATION_B_W) else { return nil }
        // A profile that is kept describes three bands.
        guard plan.keepsSourceProfile else { return grey }
        return grey.converted(to: VIPS_INTERPRETATION_sRGB)
    }
}
