import Testing

@testable import CameoImaging

@Suite(.timeLimit(.minutes(10)))
struct HDRArithmeticTests {
    /// ITU-R BT.2408, table 1 (rounded to whole per cent), and the end points.
    @Test(arguments: [(0.0, 0.0, 0.0), (0.38, 26, 0.5), (0.58, 203, 3), (0.752, 1_000, 3), (1, 10_000, 1e-6)])
    func pqIsSMPTEs(_ encoded: Double, luminance: Double, tolerance: Double) {
        #expect(abs(PerceptualQuantizer.luminance(encoded) - luminance) <= tolerance)
    }

    /// BT.2100: 0.5 encodes a twelfth of the scene light, 1 all of it. BT.2408: 75 % is the reference white.
    @Test func hlgIsARIBs() {
        #expect(HybridLogGamma.sceneLight(0) == 0)
        #expect(abs(HybridLogGamma.sceneLight(0.5) - 1.0 / 12) < 1e-12)
        #expect(abs(HybridLogGamma.sceneLight(0.500_001) - 1.0 / 12) < 1e-5, "the two halves meet")
        #expect(abs(HybridLogGamma.sceneLight(1) - 1) < 1e-6)
        let scene = HybridLogGamma.sceneLight(0.75)
        #expect(abs(scene * HybridLogGamma.displayGain(scene) - CodedColor.referenceWhite) < 1)
    }

    @Test(arguments: [HybridLogGamma.peak, PerceptualQuantizer.peak])
    func toneCurveKeepsWhatIsDarkerThanWhiteAndReachesItsPeak(_ peak: Double) {
        let curve = ToneCurve(peak: peak / CodedColor.referenceWhite)
        for light in [0, 0.001, 0.2, 0.5, ToneCurve.knee] { #expect(curve.shown(light) == light) }
        #expect(abs(curve.shown(1) - 0.875) < 0.002)
        #expect(abs(curve.shown(curve.peak) - 1) < 1e-12)
        #expect(curve.shown(curve.peak * 2) == 1, "a saturated colour's channel in narrower primaries")
        let slope = (curve.shown(ToneCurve.knee + 1e-6) - ToneCurve.knee) / 1e-6
        #expect(abs(slope - 1) < 1e-4, "no bend at the knee")
        let shown = stride(from: 0, through: curve.peak, by: 0.01).map(curve.shown)
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 < $1 }, "what is brighter stays brighter")
    }

    /// Chromaticities of red, green and blue (H.273, table 2): each primary must map to its CIE XYZ value.
    private static let chromaticities: [(CodedColor.Primaries, [(x: Double, y: Double)])] = [
        (.bt709, [(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)]),
        (.displayP3, [(0.68, 0.32), (0.265, 0.69), (0.15, 0.06)]),
        (.bt2020, [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)]),
    ]

    /// IEC 61966-2-1, annex F: XYZ to linear sRGB.
    private static let toSRGB = [
        3.240_970, -1.537_383, -0.498_611, -0.969_244, 1.875_968, 0.041_555, 0.055_630, -0.203_977, 1.056_972,
    ]

    @Test(arguments: chromaticities)
    func matricesFollowFromTheChromaticities(_ primaries: CodedColor.Primaries, points: [(x: Double, y: Double)]) {
        for (column, point) in points.enumerated() {
            let luminance = primaries.luminanceShares[column]
            let xyz = [point.x / point.y, 1, (1 - point.x - point.y) / point.y].map { $0 * luminance }
            for row in 0..<3 {
                let expected = (0..<3).reduce(0.0) { $0 + Self.toSRGB[row * 3 + $1] * xyz[$1] }
                #expect(abs(primaries.toBT709[row * 3 + column] - expected) < 0.001, "row \(row), column \(column)")
            }
        }
        for row in 0..<3 {
            let sum = primaries.toBT709[row * 3..<row * 3 + 3].reduce(0, +)
            #expect(abs(sum - 1) < 1e-5, "white stays white")
        }
    }

    private static let header: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        + Array(repeating: 0, count: 17)
    /// The checksum of `cICP` and 9, 16, 0, 1, by zlib.
    private static let pq: [UInt8] = [0, 0, 0, 4] + Array("cICP".utf8) + [9, 16, 0, 1] + [0x4D, 0x23, 0x23, 0xFE]
    private static let data: [UInt8] = [0, 0, 0, 0] + Array("IDAT".utf8) + [0x35, 0xAF, 0x06, 0x1E]

    private func color(_ bytes: [UInt8]) -> CodedColor? { bytes.withUnsafeBytes(PNGColor.named) }

    @Test func codePointsAreFoundBeforeThePixels() {
        let other: [UInt8] = [0, 0, 0, 2] + Array("abCd".utf8) + [1, 2, 3, 4, 5, 6]
        #expect(color(Self.header + Self.pq + Self.data) == CodedColor(primaries: .bt2020, transfer: .pq))
        #expect(color(Self.header + other + Self.pq + Self.data) == CodedColor(primaries: .bt2020, transfer: .pq))
        #expect(color(Self.header + Self.data + Self.pq) == nil)
        #expect(color(Self.header + Self.data) == nil)
    }

    @Test func filesThatEndAnywhereAreReadToTheirEnd() {
        let file = Self.header + Self.pq
        for count in 0..<file.count { #expect(color(Array(file.prefix(count))) == nil, "\(count)") }
        for byte in 33..<file.count {
            var damaged = file
            damaged[byte] ^= 0xFF
            #expect(color(damaged) == nil, "\(byte)")
        }
    }
}
