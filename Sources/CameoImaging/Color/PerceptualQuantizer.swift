internal import Glibc

/// The PQ transfer function (SMPTE ST 2084; ITU-R BT.2100-2, table 4).
package enum PerceptualQuantizer {
    /// The luminance of the largest value, in cd/m².
    package static let peak = 10_000.0

    private static let m1 = 2_610.0 / 16_384
    private static let m2 = 2_523.0 / 4_096 * 128
    private static let c1 = 3_424.0 / 4_096
    private static let c2 = 2_413.0 / 4_096 * 32
    private static let c3 = 2_392.0 / 4_096 * 32

    /// The luminance of an encoded value 0…1, in cd/m².
    package static func luminance(_ encoded: Double) -> Double {
        let root = pow(encoded, 1 / m2)
        return peak * pow(max(root - c1, 0) / (c2 - c3 * root), 1 / m1)
    }
}
