import Testing

@testable import CameoImaging

@Suite(.timeLimit(.minutes(10)))
struct MatrixProfileTests {
    private static let srgb = [
        [0.43607, 0.22249, 0.01392], [0.38515, 0.71687, 0.09708], [0.14307, 0.06061, 0.71410],
    ]
    private static let displayP3 = [
        [0.51512, 0.2412, -0.00105], [0.29198, 0.69225, 0.04189], [0.1571, 0.06657, 0.78407],
    ]

    fileprivate enum Curve: Sendable {
        case parameters([Double])
        case table([Int])

        static let srgb = Curve.parameters([2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
        static let srgbTable = Curve.table(
            (0..<1_024).map { Int((SRGB.linear(Double($0) / 1_023) * 65_535).rounded()) }
        )

        var bytes: [UInt8] {
            switch self {
            case .parameters(let numbers): Array("para\0\0\0\0\0\u{3}\0\0".utf8) + numbers.flatMap(fixed)
            case .table(let numbers):
                Array("curv\0\0\0\0".utf8) + number(numbers.count) + numbers.flatMap { number($0).suffix(2) }
            }
        }
    }

    private static func number(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func fixed(_ number: Double) -> [UInt8] { self.number(Int((number * 65_536).rounded())) }

    private static func profile(_ primaries: [[Double]] = srgb, _ curve: Curve = .srgb, more: String? = nil) -> [UInt8]
    {
        var tags: [(String, [UInt8])] = zip(["rXYZ", "gXYZ", "bXYZ"], primaries).map { name, xyz in
            (name, Array("XYZ \0\0\0\0".utf8) + xyz.flatMap(fixed))
        }
        tags += ["rTRC", "gTRC", "bTRC"].map { ($0, curve.bytes) }
        if let more { tags.append((more, [0, 0, 0, 0])) }
        var (table, data): ([UInt8], [UInt8]) = ([], [])
        for (name, bytes) in tags {
            table += Array(name.utf8) + number(132 + tags.count * 12 + data.count) + number(bytes.count)
            data += bytes
        }
        let start = [UInt8](repeating: 0, count: 12) + Array("mntrRGB XYZ ".utf8) + [UInt8](repeating: 0, count: 12)
        let header = start + Array("acsp".utf8) + [UInt8](repeating: 0, count: 88)
        return header + number(tags.count) + table + data
    }

    @Test(arguments: [Curve.srgb, .srgbTable])
    fileprivate func sRGBIsRecognised(_ curve: Curve) throws {
        #expect(try #require(MatrixProfile(Self.profile(Self.srgb, curve))).isSRGB)
    }

    @Test func otherProfilesAreNot() throws {
        #expect(try !#require(MatrixProfile(Self.profile(Self.displayP3))).isSRGB)
        #expect(try !#require(MatrixProfile(Self.profile(Self.srgb, .parameters([2.2, 1, 0, 0, 0])))).isSRGB)
        #expect(try !#require(MatrixProfile(Self.profile(Self.srgb, .table([0, 65_535])))).isSRGB)
        // Tables decide.
        #expect(MatrixProfile(Self.profile(more: "A2B0")) == nil)
    }

    /// Display P3's matrix follows from its chromaticities, too.
    @Test func matrixIsThatOfThePrimaries() throws {
        let profile = try #require(MatrixProfile(Self.profile(Self.displayP3)))
        let expected = CodedColor.Primaries.displayP3.toBT709
        #expect(zip(profile.toSRGB, expected).allSatisfy { abs($0 - $1) < 0.001 }, "\(profile.toSRGB)")
    }

    @Test(arguments: [0, 20, 131, 132, 150, 210, 300])
    func brokenProfilesAreRefused(_ count: Int) {
        #expect(MatrixProfile(Array(Self.profile().prefix(count))) == nil)
    }

    /// No trap is all that is asked for.
    @Test func everyByteMayBeWrong() {
        let profile = Self.profile()
        for index in profile.indices {
            for byte: UInt8 in [0, 0x7F, 0xFF] {
                var damaged = profile
                damaged[index] = byte
                _ = MatrixProfile(damaged)
            }
        }
    }
}
