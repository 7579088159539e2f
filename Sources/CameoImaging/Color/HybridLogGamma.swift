internal import Glibc

/// The transfer function HLG (ITU-R BT.2100-2, table 5), shown by a display of 1000 cd/m² whose black is 0.
package enum HybridLogGamma {
    /// What the largest number shows there, cd/m².
    package static let peak = 1_000.0
    /// The system gamma of that display.
    package static let gamma = 1.2

    private static let a = 0.178_832_77
    private static let b = 1 - 4 * a
    private static let c = 0.5 - a * log(4 * a)

    /// The light before the camera, 0…1, of an encoded number 0…1: the inverse OETF.
    package static func sceneLight(_ encoded: Double) -> Double {
        encoded <= 0.5 ? encoded * encoded / 3 : (exp((encoded - c) / a) + b) / 12
    }

    /// By how much each channel of the scene's light is multiplied for the display's, cd/m², where the scene's luminance
    /// is this (0…1): the OOTF.
    package static func displayGain(_ sceneLuminance: Double) -> Double {
        peak * pow(sceneLuminance, gamma - 1)
    }
}
