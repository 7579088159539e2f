internal import Foundation

/// The numbers that a scene is written in, with the maths of their profile: the tests know every colour without asking a
/// colour library.
package enum SceneSpace: Hashable, Sendable {
    case srgb, displayP3, adobeRGB, proPhoto
    /// Grey, with sRGB's curve.
    case grey
    /// Grey with a power curve.
    case greyGamma(Double)
    /// The scene in sRGB, to be converted by libvips' own CMYK profile.
    case cmyk

    package var isGrey: Bool {
        switch self {
        case .grey, .greyGamma: true
        default: false
        }
    }

    /// The space's red, green and blue in CIE XYZ, adapted to D50 by Bradford's method, a row each for X, Y and Z
    /// (http://www.brucelindbloom.com/index.html?Eqn_RGB_XYZ_Matrix.html).
    var primaries: [[Double]] {
        switch self {
        case .displayP3: [[0.5151, 0.2920, 0.1571], [0.2412, 0.6922, 0.0666], [-0.0011, 0.0419, 0.7841]]
        case .adobeRGB:
            [
                [0.6097559, 0.2052401, 0.1492240], [0.3111242, 0.6256560, 0.0632197],
                [0.0194811, 0.0608902, 0.7448387],
            ]
        case .proPhoto: [[0.7976749, 0.1351917, 0.0313534], [0.2880402, 0.7118741, 0.0000857], [0, 0, 0.8252100]]
        case .srgb, .grey, .greyGamma, .cmyk: Self.srgbPrimaries
        }
    }

    private static let srgbPrimaries = [
        [0.4360747, 0.3850649, 0.1430804], [0.2225045, 0.7168786, 0.0606169], [0.0139322, 0.0971045, 0.7141733],
    ]

    /// The exponent of its curve; nil: sRGB's curve (IEC 61966-2-1).
    var gamma: Double? {
        switch self {
        case .adobeRGB: 2.19921875
        case .proPhoto: 1.8
        case .greyGamma(let gamma): gamma
        case .srgb, .displayP3, .grey, .cmyk: nil
        }
    }

    /// Light (0…1) to the space's number (0…1).
    func encoded(_ light: Double) -> Double {
        let light = min(1, max(0, light))
        if let gamma { return pow(light, 1 / gamma) }
        return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    /// The space's number (0…1) to light (0…1).
    func decoded(_ number: Double) -> Double {
        if let gamma { return pow(number, gamma) }
        return number <= 0.04045 ? number / 12.92 : pow((number + 0.055) / 1.055, 2.4)
    }

    /// From linear sRGB to the space's linear numbers.
    private var fromLinearSRGB: [[Double]] { Self.product(Self.inverse(primaries), Self.srgbPrimaries) }

    /// Makes the function from an sRGB colour (0…1 each) to the space's numbers: three, or one for grey.
    package func encoder() -> (_ color: [Double]) -> [Double] {
        if self == .srgb || self == .cmyk { return { $0 } }
        if isGrey {
            return { color in
                let light = zip(color, [0.2126, 0.7152, 0.0722]).map { Self.srgb.decoded($0) * $1 }.reduce(0, +)
                return [encoded(light)]
            }
        }
        let matrix = fromLinearSRGB
        return { color in
            let light = color.map(Self.srgb.decoded)
            return matrix.map { encoded($0[0] * light[0] + $0[1] * light[1] + $0[2] * light[2]) }
        }
    }

    private static func product(_ a: [[Double]], _ b: [[Double]]) -> [[Double]] {
        a.map { row in (0..<3).map { column in (0..<3).reduce(0) { $0 + row[$1] * b[$1][column] } } }
    }

    /// By the adjugate.
    private static func inverse(_ m: [[Double]]) -> [[Double]] {
        func minor(_ row: Int, _ column: Int) -> Double {
            let (r, c) = ([(row + 1) % 3, (row + 2) % 3], [(column + 1) % 3, (column + 2) % 3])
            return m[r[0]][c[0]] * m[r[1]][c[1]] - m[r[0]][c[1]] * m[r[1]][c[0]]
        }
        let determinant = (0..<3).reduce(0) { $0 + m[0][$1] * minor(0, $1) }
        return (0..<3).map { row in (0..<3).map { minor($0, row) / determinant } }
    }
}
