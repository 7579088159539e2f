internal import Glibc

/// The transfer function of sRGB (IEC 61966-2-1), 0…1 on both sides.
package enum SRGB {
    /// Light, of an encoded number.
    package static func linear(_ encoded: Double) -> Double {
        encoded <= 0.04045 ? encoded / 12.92 : pow((encoded + 0.055) / 1.055, 2.4)
    }

    /// The encoded number, of light.
    package static func encoded(_ linear: Double) -> Double {
        linear <= 0.003_130_8 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055
    }
}
