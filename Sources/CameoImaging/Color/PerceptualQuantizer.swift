internal import Glibc

/// The transfer function PQ (SMPTE ST 2084; ITU-R BT.2100-2, table 4).
package enum PerceptualQuantizer {
    /// What the largest number shows, cd/m².
    package static let peak = 10_000.0

    private static let m1 = 2_610.0 / 16_384
    private static let m2 = 2_523.0 / 4_096 * 128
    private static let c1 = 3_424.0 / 4_096
    private static let c2 = 2_413.0 / 4_096 * 32
    private static let c3 = 2_392.0 / 4_096 * 32

    /// The light of an encoded number 0…1, cd/m².
    package static func luminance(_ encoded: Double) -> Double {
        let root = pow(encoded, 1 / m2)
        return peak * pow(max(root - c1, 0) / (c2 - c3 * root), 1 / m1)
    }
}
