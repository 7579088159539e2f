internal import Glibc

/// The sRGB transfer function (IEC 61966-2-1), 0…1 on both sides.
package enum SRGB {
    /// The light of an encoded value.
    package static func linear(_ encoded: Double) -> Double {
        encoded <= 0.04045 ? encoded / 12.92 : pow((encoded + 0.055) / 1.055, 2.4)
    }

    /// The encoded value of light.
    package static func encoded(_ linear: Double) -> Double {
        linear <= 0.003_130_8 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055
    }
}
