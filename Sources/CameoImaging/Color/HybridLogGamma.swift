internal import Glibc

/// The HLG transfer function (ITU-R BT.2100-2, table 5) on a display of 1000 cd/m² with a black of 0.
package enum HybridLogGamma {
    /// The luminance of the largest value on that display, in cd/m².
    package static let peak = 1_000.0
    /// The system gamma of that display.
    package static let gamma = 1.2

    private static let a = 0.178_832_77
    private static let b = 1 - 4 * a
    private static let c = 0.5 - a * log(4 * a)

    /// The scene light, 0…1, of an encoded value 0…1: the inverse OETF.
    package static func sceneLight(_ encoded: Double) -> Double {
        encoded <= 0.5 ? encoded * encoded / 3 : (exp((encoded - c) / a) + b) / 12
    }

    /// The factor from each channel of scene light to display light in cd/m², at this scene luminance (0…1): the OOTF.
    package static func displayGain(_ sceneLuminance: Double) -> Double {
        peak * pow(sceneLuminance, gamma - 1)
    }
}
