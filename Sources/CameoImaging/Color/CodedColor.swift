internal import Glibc

/// A colour space by the code points of ITU-T H.273, as far as supported: full-range RGB or grey.
package struct CodedColor: Hashable, Sendable {
    /// Primaries with the white point D65.
    package enum Primaries: Int, Sendable {
        case bt709 = 1
        case bt2020 = 9
        case displayP3 = 12
    }

    package enum Transfer: Sendable {
        /// sRGB, also used for the curve of BT.709 (shared by BT.601 and BT.2020): that curve describes cameras,
        /// displays apply another (BT.1886), and sRGB lies between the two.
        case sRGB
        case pq
        case hlg

        init?(codePoint: Int) {
            switch codePoint {
            case 1, 6, 13, 14, 15: self = .sRGB
            case 16: self = .pq
            case 18: self = .hlg
            default: return nil
            }
        }
    }

    package let primaries: Primaries
    package let transfer: Transfer

    package init(_ primaries: Primaries, _ transfer: Transfer) {
        (self.primaries, self.transfer) = (primaries, transfer)
    }
}

extension CodedColor.Primaries {
    /// The matrix from light in these primaries to light in BT.709's, three rows of three. BT.2020's is from ITU-R
    /// BT.2087; Display P3's follows from the chromaticities in H.273, table 2.
    package var toBT709: [Double] {
        switch self {
        case .bt709: [1, 0, 0, 0, 1, 0, 0, 0, 1]
        case .bt2020:
            [1.660_491, -0.587_641, -0.072_850, -0.124_550, 1.132_900, -0.008_349, -0.018_151, -0.100_579, 1.118_730]
        case .displayP3:
            [1.224_940, -0.224_940, 0, -0.042_057, 1.042_057, 0, -0.019_638, -0.078_636, 1.098_274]
        }
    }

    /// How much more light a channel may have in BT.709's primaries than the largest one has in these.
    package var largestGain: Double {
        let rows = stride(from: 0, to: 9, by: 3).map { toBT709[$0..<$0 + 3] }
        return rows.map { $0.reduce(0) { $0 + max(0, $1) } }.max() ?? 1
    }

    /// The weights of red, green and blue in luminance: the second row of the primaries' matrix to CIE XYZ.
    package var luminanceShares: [Double] {
        switch self {
        case .bt709: [0.2126, 0.7152, 0.0722]
        case .bt2020: [0.2627, 0.6780, 0.0593]
        case .displayP3: [0.2290, 0.6917, 0.0793]
        }
    }
}

/// The conversion of encoded values 0…1 to light in units of the reference white, and on to sRGB.
extension CodedColor {
    /// The luminance of white paper in HDR, in cd/m² (ITU-R BT.2408, table 1), which corresponds to SDR's white.
    package static let referenceWhite = 203.0

    /// The light of one channel. HLG's must be multiplied by ``displayGain(_:)``.
    package func light(_ encoded: Double) -> Double {
        switch transfer {
        case .sRGB: SRGB.linear(encoded)
        case .pq: PerceptualQuantizer.luminance(encoded) / Self.referenceWhite
        case .hlg: HybridLogGamma.sceneLight(encoded)
        }
    }

    /// The gain for all channels of a pixel whose luminance by ``light(_:)`` is this; 1 except for HLG.
    package func displayGain(_ luminance: Double) -> Double {
        transfer == .hlg ? HybridLogGamma.displayGain(luminance) / Self.referenceWhite : 1
    }

    /// The tone curve; nil if nothing can be brighter than white.
    package var toneCurve: ToneCurve? {
        switch transfer {
        case .sRGB: nil
        case .pq: ToneCurve(peak: PerceptualQuantizer.peak / Self.referenceWhite)
        case .hlg: ToneCurve(peak: HybridLogGamma.peak / Self.referenceWhite)
        }
    }

    package func grey(_ encoded: Double) -> Double {
        let scene = light(encoded)
        let light = scene * displayGain(scene)
        return SRGB.encoded(min(1, toneCurve?.shown(light) ?? light))
    }
}

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
