internal import CVips
internal import CameoModel

/// Applies `grayscale`: reduces the picture to its luminance, one band (``VipsPicture/luminance()``).
enum Grayscale: RenditionStep {
    static let name = "grayscale"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard plan.rendition.look.grayscale, picture.colorBands >= 3 else { return picture }
        guard let grey = picture.luminance() else { return nil }
        // The kept profile describes three bands.
        guard plan.keepsSourceProfile else { return grey }
        return grey.converted(to: VIPS_INTERPRETATION_sRGB)
    }
}
