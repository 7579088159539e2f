internal import CVips
internal import CameoModel
internal import Glibc

/// Applies `brightness`, `contrast` and `saturation`, in this order, in one pass.
enum AdjustColor: RenditionStep {
    static let name = "color adjustment"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        let look = plan.rendition.look
        let matrix = ColorMatrix(brightness: look.brightness, contrast: look.contrast, saturation: look.saturation)
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

/// Applies `grayscale`: reduces the picture to its luminance, one band (``VipsPicture/luminance()``).
enum Grayscale: RenditionStep {
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard plan.rendition.look.grayscale, picture.colorBands >= 3 else { return picture }
        guard let grey = picture.luminance() else { return nil }
        // The kept profile describes three bands.
        guard plan.keepsSourceProfile else { return grey }
        return grey.converted(to: VIPS_INTERPRETATION_sRGB)
    }
}

/// Applies `tint`: maps luminance to shades of one colour (``TintTable``). A translucent colour tints in proportion to
/// its opacity. The result is sRGB.
enum Tint: RenditionStep {
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard let tint = plan.rendition.look.tint else { return picture }
        return picture.changingColors { tinted($0, tint) }
    }

    private static func tinted(_ colors: borrowing VipsPicture, _ tint: Color) -> VipsPicture? {
        let bytes = TintTable.colors(of: tint).flatMap { [$0.red, $0.green, $0.blue] }
        let isGrey = colors.colorBands < 3
        guard let luminance = isGrey ? colors.converted(to: VIPS_INTERPRETATION_B_W) : colors.luminance(),
            let table = VipsPicture(bytes: bytes, size: PixelSize(256, 1), bands: 3, space: VIPS_INTERPRETATION_sRGB),
            let tinted = luminance.mapped(through: table)?.reinterpreted(as: VIPS_INTERPRETATION_sRGB)
        else { return nil }
        let strength = Double(tint.alpha) / 255
        guard strength < 1 else { return tinted }
        guard let added = tinted.scaled(by: [strength], adding: [0]) else { return nil }
        return colors.converted(to: VIPS_INTERPRETATION_sRGB)?.scaled(by: [1 - strength], adding: [0])?
            .added(to: added)?.roundedToBytes()
    }
}

/// Maps every grey to its tint.
///
/// The mapping is sharp's (`Tint` in its `operations.cc`): lightness stays, the hue is the tint's, and its strength
/// fades towards black and white, which therefore stay unchanged.
enum TintTable {
    /// 256 colours, indexed by luminance.
    static func colors(of tint: Color) -> [Color] {
        let hue = LabColor(tint)
        return (0...255).map { (grey: UInt8) in
            let lightness = LabColor(Color(red: grey, green: grey, blue: grey, alpha: 255)).lightness
            let distance = lightness / 100 - 0.5
            let strength = 1 - 4 * distance * distance
            return LabColor(lightness: lightness, a: hue.a * strength, b: hue.b * strength).color
        }
    }
}

/// A colour in CIE L*a*b* under D65, the white of sRGB.
struct LabColor: Hashable, Sendable {
    /// 0 (black) to 100 (white).
    var lightness: Double
    /// The axes green to red and blue to yellow; 0 for greys.
    var a, b: Double
}

extension LabColor {
    /// Converts from sRGB; alpha is ignored.
    init(_ color: Color) {
        let (red, green, blue) = (Self.light(color.red), Self.light(color.green), Self.light(color.blue))
        let x = Self.compressed((0.412_456_4 * red + 0.357_576_1 * green + 0.180_437_5 * blue) / Self.whiteX)
        let y = Self.compressed(0.212_672_9 * red + 0.715_152_2 * green + 0.072_175 * blue)
        let z = Self.compressed((0.019_333_9 * red + 0.119_192 * green + 0.950_304_1 * blue) / Self.whiteZ)
        self.init(lightness: 116 * y - 16, a: 500 * (x - y), b: 200 * (y - z))
    }

    /// The colour in sRGB, clipped to its gamut; opaque.
    var color: Color {
        let middle = (lightness + 16) / 116
        let x = Self.whiteX * Self.expanded(middle + a / 500)
        let y = Self.expanded(middle)
        let z = Self.whiteZ * Self.expanded(middle - b / 200)
        return Color(
            red: Self.byte(3.240_454_2 * x - 1.537_138_5 * y - 0.498_531_4 * z),
            green: Self.byte(-0.969_266 * x + 1.876_010_8 * y + 0.041_556 * z),
            blue: Self.byte(0.055_643_4 * x - 0.204_025_9 * y + 1.057_225_2 * z),
            alpha: 255
        )
    }

    private static let (whiteX, whiteZ) = (0.950_47, 1.088_83)

    private static func light(_ byte: UInt8) -> Double { SRGB.linear(Double(byte) / 255) }

    private static func byte(_ light: Double) -> UInt8 {
        UInt8((SRGB.encoded(min(1, max(0, light))) * 255).rounded())
    }

    /// The nonlinearity of CIE 15: a cube root with a straight line near black.
    private static func compressed(_ share: Double) -> Double {
        share > 216.0 / 24_389 ? cbrt(share) : (24_389.0 / 27 * share + 16) / 116
    }

    private static func expanded(_ root: Double) -> Double {
        let cube = root * root * root
        return cube > 216.0 / 24_389 ? cube : (116 * root - 16) * 27 / 24_389
    }
}

/// The sRGB transfer function (IEC 61966-2-1), 0…1 on both sides.
enum SRGB {
    /// The light of an encoded value.
    static func linear(_ encoded: Double) -> Double {
        encoded <= 0.04045 ? encoded / 12.92 : pow((encoded + 0.055) / 1.055, 2.4)
    }

    /// The encoded value of light.
    static func encoded(_ linear: Double) -> Double {
        linear <= 0.003_130_8 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055
    }
}

extension Color {
    var isNeutral: Bool { red == green && green == blue }

    /// The components as libvips takes them, without alpha: one for grey pictures (whose backgrounds must be neutral),
    /// else three.
    func numbers(bands: Int) -> [Double] { bands < 3 ? [Double(red)] : [Double(red), Double(green), Double(blue)] }
}
