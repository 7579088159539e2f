internal import Glibc

/// A colour space by the code points of ITU-T H.273, as far as supported: full-range RGB or grey.
struct CodedColor: Hashable, Sendable {
    /// What light red, green and blue are.
    struct Primaries: Hashable, Sendable {
        /// The matrix from light in these primaries to light in BT.709's, three rows of three.
        let toBT709: [Double]
        /// The weights of red, green and blue in luminance: the second row of the primaries' matrix to CIE XYZ.
        let luminanceShares: [Double]
    }

    enum Transfer: Hashable, Sendable {
        /// sRGB, also used for the curve of BT.709 (shared by BT.601 and BT.2020): that curve describes cameras,
        /// displays apply another (BT.1886), and sRGB lies between the two.
        case sRGB
        case pq
        case hlg
        /// Light is the encoded value to this power.
        case gamma(Double)
        /// SMPTE ST 240, of displays before HDTV's.
        case smpte240
        /// SMPTE ST 428-1, of digital cinema: white is at 48 cd/m² of 52.37.
        case cinema

        init?(codePoint: Int) {
            switch codePoint {
            case 1, 6, 13, 14, 15: self = .sRGB
            case 4: self = .gamma(2.2)
            case 5: self = .gamma(2.8)
            case 7: self = .smpte240
            case 8: self = .gamma(1)
            case 16: self = .pq
            case 17: self = .cinema
            case 18: self = .hlg
            default: return nil
            }
        }
    }

    let primaries: Primaries
    let transfer: Transfer
}

extension CodedColor.Primaries {
    static let bt709 = Self(toBT709: [1, 0, 0, 0, 1, 0, 0, 0, 1], luminanceShares: [0.2126, 0.7152, 0.0722])
    /// ITU-R BT.2087.
    static let bt2020 = Self(
        toBT709: [
            1.660_491, -0.587_641, -0.072_850, -0.124_550, 1.132_900, -0.008_349, -0.018_151, -0.100_579, 1.118_730,
        ],
        luminanceShares: [0.2627, 0.6780, 0.0593]
    )
    static let displayP3 = Self(
        toBT709: [1.224_940, -0.224_940, 0, -0.042_057, 1.042_057, 0, -0.019_638, -0.078_636, 1.098_274],
        luminanceShares: [0.2290, 0.6917, 0.0793]
    )

    /// By H.273, table 2; nil for what is no set of three primaries.
    init?(codePoint: Int) {
        let (d65, illuminantC) = ([0.3127, 0.3290], [0.310, 0.316])
        let known: Self? =
            switch codePoint {
            case 1: .bt709
            case 4: Self(white: illuminantC, [0.67, 0.33, 0.21, 0.71, 0.14, 0.08])
            case 5: Self(white: d65, [0.64, 0.33, 0.29, 0.60, 0.15, 0.06])
            case 6, 7: Self(white: d65, [0.630, 0.340, 0.310, 0.595, 0.155, 0.070])
            case 8: Self(white: illuminantC, [0.681, 0.319, 0.243, 0.692, 0.145, 0.049])
            case 9: .bt2020
            // CIE XYZ itself.
            case 10: Self(white: [1 / 3, 1 / 3], [1, 0, 0, 1, 0, 0])
            case 11: Self(white: [0.314, 0.351], [0.680, 0.320, 0.265, 0.690, 0.150, 0.060])
            case 12: .displayP3
            case 22: Self(white: d65, [0.630, 0.340, 0.295, 0.605, 0.155, 0.077])
            default: nil
            }
        guard let known else { return nil }
        self = known
    }

    /// By the chromaticities x and y of white, and of red, green and blue, in CIE 1931. White becomes D65, by Bradford's
    /// method. Nil if they span no colours.
    init?(white: [Double], _ points: [Double]) {
        func xyz(_ x: Double, _ y: Double) -> [Double] { [x, y, 1 - x - y] }
        let columns = [xyz(points[0], points[1]), xyz(points[2], points[3]), xyz(points[4], points[5])]
        let white = xyz(white[0], white[1]).map { $0 / white[1] }
        let plain = Matrix(rows: (0..<9).map { columns[$0 % 3][$0 / 3] })
        guard let shares = plain.inverse?.applied(to: white) else { return nil }
        let bradford = Matrix(rows: [0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296])
        let d65 = xyz(0.3127, 0.3290).map { $0 / 0.3290 }
        let gains = zip(bradford.applied(to: d65), bradford.applied(to: white)).map { $0 / $1 }
        let toSRGB = Matrix(rows: [
            3.240_970, -1.537_383, -0.498_611, -0.969_244, 1.875_968, 0.041_555, 0.055_630, -0.203_977, 1.056_972,
        ])
        guard let back = bradford.inverse else { return nil }
        let mixed = (0..<3).map { column in
            let cone = bradford.applied(to: columns[column].map { $0 * shares[column] })
            return toSRGB.applied(to: back.applied(to: zip(cone, gains).map { $0 * $1 }))
        }
        toBT709 = (0..<9).map { mixed[$0 % 3][$0 / 3] }
        luminanceShares = zip(shares, columns).map { $0 * $1[1] }
        guard toBT709.allSatisfy({ $0.magnitude < 100 }) else { return nil }
    }

    struct Matrix {
        /// Three of three.
        let rows: [Double]

        func applied(to vector: [Double]) -> [Double] {
            stride(from: 0, to: 9, by: 3).map { row in
                rows[row] * vector[0] + rows[row + 1] * vector[1] + rows[row + 2] * vector[2]
            }
        }

        /// Nil if there is none.
        var inverse: Matrix? {
            func cofactor(_ row: Int, _ column: Int) -> Double {
                let (r, s, c, d) = ((row + 1) % 3, (row + 2) % 3, (column + 1) % 3, (column + 2) % 3)
                return rows[r * 3 + c] * rows[s * 3 + d] - rows[r * 3 + d] * rows[s * 3 + c]
            }
            let determinant = (0..<3).reduce(0) { $0 + rows[$1] * cofactor(0, $1) }
            guard determinant.isFinite, determinant.magnitude > 1e-9 else { return nil }
            return Matrix(rows: (0..<9).map { cofactor($0 % 3, $0 / 3) / determinant })
        }
    }

    /// How much more light a channel may have in BT.709's primaries than the largest one has in these.
    var largestGain: Double {
        let rows = stride(from: 0, to: 9, by: 3).map { toBT709[$0..<$0 + 3] }
        return rows.map { $0.reduce(0) { $0 + max(0, $1) } }.max() ?? 1
    }
}

/// The conversion of encoded values 0…1 to light in units of the reference white, and on to sRGB.
extension CodedColor {
    /// The luminance of white paper in HDR, in cd/m² (ITU-R BT.2408, table 1), which corresponds to SDR's white.
    static let referenceWhite = 203.0

    /// The light of one channel. HLG's must be multiplied by ``displayGain(_:)``.
    func light(_ encoded: Double) -> Double {
        switch transfer {
        case .sRGB: SRGB.linear(encoded)
        case .pq: PerceptualQuantizer.luminance(encoded) / Self.referenceWhite
        case .hlg: HybridLogGamma.sceneLight(encoded)
        case .gamma(let exponent): pow(encoded, exponent)
        case .smpte240: encoded < 0.0913 ? encoded / 4 : pow((encoded + 0.1115) / 1.1115, 1 / 0.45)
        case .cinema: pow(encoded, 2.6) * 52.37 / 48
        }
    }

    /// The gain for all channels of a pixel whose luminance by ``light(_:)`` is this; 1 except for HLG.
    func displayGain(_ luminance: Double) -> Double {
        transfer == .hlg ? HybridLogGamma.displayGain(luminance) / Self.referenceWhite : 1
    }

    /// The tone curve; nil if nothing can be brighter than white.
    var toneCurve: ToneCurve? {
        switch transfer {
        case .sRGB, .gamma, .smpte240, .cinema: nil
        case .pq: ToneCurve(peak: PerceptualQuantizer.peak / Self.referenceWhite)
        case .hlg: ToneCurve(peak: HybridLogGamma.peak / Self.referenceWhite)
        }
    }

    func grey(_ encoded: Double) -> Double {
        let scene = light(encoded)
        let light = scene * displayGain(scene)
        return SRGB.encoded(min(1, toneCurve?.shown(light) ?? light))
    }
}

/// The PQ transfer function (SMPTE ST 2084; ITU-R BT.2100-2, table 4).
enum PerceptualQuantizer {
    /// The luminance of the largest value, in cd/m².
    static let peak = 10_000.0

    private static let m1 = 2_610.0 / 16_384
    private static let m2 = 2_523.0 / 4_096 * 128
    private static let c1 = 3_424.0 / 4_096
    private static let c2 = 2_413.0 / 4_096 * 32
    private static let c3 = 2_392.0 / 4_096 * 32

    /// The luminance of an encoded value 0…1, in cd/m².
    static func luminance(_ encoded: Double) -> Double {
        let root = pow(encoded, 1 / m2)
        return peak * pow(max(root - c1, 0) / (c2 - c3 * root), 1 / m1)
    }
}

/// The HLG transfer function (ITU-R BT.2100-2, table 5) on a display of 1000 cd/m² with a black of 0.
enum HybridLogGamma {
    /// The luminance of the largest value on that display, in cd/m².
    static let peak = 1_000.0
    /// The system gamma of that display.
    static let gamma = 1.2

    private static let a = 0.178_832_77
    private static let b = 1 - 4 * a
    private static let c = 0.5 - a * log(4 * a)

    /// The scene light, 0…1, of an encoded value 0…1: the inverse OETF.
    static func sceneLight(_ encoded: Double) -> Double {
        encoded <= 0.5 ? encoded * encoded / 3 : (exp((encoded - c) / a) + b) / 12
    }

    /// The factor from each channel of scene light to display light in cd/m², at this scene luminance (0…1): the OOTF.
    static func displayGain(_ sceneLuminance: Double) -> Double {
        peak * pow(sceneLuminance, gamma - 1)
    }
}

/// A function on 0…1 as a lookup table, with one entry for each integer from 0 to the largest.
enum LightTable {
    /// The largest 16-bit integer.
    static let finest = 65_535
    /// The encoded sRGB of light 0…1.
    static let encoded = bytes(of: finest, SRGB.encoded)

    static func numbers(of largest: Int, _ function: (Double) -> Double) -> [Float] {
        (0...largest).map { Float(function(Double($0) / Double(largest))) }
    }

    /// The function's results, 0…1, scaled to 0…255.
    static func bytes(of largest: Int, _ function: (Double) -> Double) -> [UInt8] {
        (0...largest).map { UInt8((min(1, max(0, function(Double($0) / Double(largest)))) * 255).rounded()) }
    }
}
