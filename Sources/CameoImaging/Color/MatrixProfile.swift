internal import CameoModel
internal import Glibc

/// An ICC profile (ICC.1:2010) that tells by three primaries and three curves what light its RGB values are.
///
/// DESIGN: libvips makes lcms build each picture's conversion anew, which costs as many instructions as all else that is
/// done for a small picture. So such profiles are applied by Cameo, and those of sRGB not at all.
struct MatrixProfile: Hashable {
    /// The light, 0…1, of each 8-bit value: red, green and blue of the first value, then those of the second, …
    let light: [Double]
    /// From light in these primaries to light in sRGB's: three rows of three.
    let toSRGB: [Double]
    /// Whether the primaries are sRGB's, as exactly as makers of profiles round, and every 8-bit value means what it
    /// means there.
    let isSRGB: Bool

    /// The most bytes of a profile that is looked into. That of IEC 61966-2-1, the most frequent, has 3,144.
    private static let longest = 16_384
    /// How far from sRGB's a primary may be.
    private static let tolerance = 0.0003
    /// The primaries of sRGB in CIE XYZ, adapted to D50 by Bradford's method, as ICC profiles have them, and the matrix from
    /// there to sRGB's light.
    private static let primaries = [
        0.436_07, 0.222_49, 0.013_92, 0.385_15, 0.716_87, 0.097_08, 0.143_07, 0.060_61, 0.714_10,
    ]
    private static let fromXYZ = [
        3.133_856_1, -1.616_866_7, -0.490_614_6, -0.978_768_4, 1.916_141_5, 0.033_454_0, 0.071_945_3, -0.228_991_4,
        1.405_242_7,
    ]
    /// For each 8-bit value, the light from which it and no other is rounded.
    private static let rounded: [ClosedRange<Double>] = (0...255).map { value in
        SRGB.linear((Double(value) - 0.5) / 255)...SRGB.linear((Double(value) + 0.5) / 255)
    }

    /// Nil for other profiles, which lcms applies, and for broken ones.
    init?(_ profile: [UInt8]) {
        guard profile.count <= Self.longest, let file = ICCFile(profile) else { return nil }
        let primaries = ["rXYZ", "gXYZ", "bXYZ"].compactMap(file.color).flatMap(\.self)
        let curves = ["rTRC", "gTRC", "bTRC"].compactMap(file.curve)
        guard primaries.count == 9, curves.count == 3 else { return nil }
        light = (0..<256).flatMap { value in curves.map { $0[value] } }
        let columns = stride(from: 0, to: 9, by: 3).map {
            CodedColor.Primaries.Matrix(rows: Self.fromXYZ).applied(to: Array(primaries[$0..<$0 + 3]))
        }
        toSRGB = (0..<9).map { columns[$0 % 3][$0 / 3] }
        let isNear = zip(primaries, Self.primaries).allSatisfy { abs($0 - $1) <= Self.tolerance }
        isSRGB = isNear && curves.allSatisfy { curve in zip(curve, Self.rounded).allSatisfy { $1.contains($0) } }
    }
}

/// The tags of a profile for RGB values, by primaries and curves; reading out of bounds returns nil.
private struct ICCFile {
    private let bytes: [UInt8]
    /// The offset of each tag's data.
    private var tags: [String: Int] = [:]

    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard let kind = bytes.name(at: 12), ["mntr", "scnr", "spac"].contains(kind), bytes.name(at: 16) == "RGB ",
            bytes.name(at: 20) == "XYZ ", bytes.name(at: 36) == "acsp", let count = bytes.number(at: 128, count: 4),
            count <= 64
        else { return nil }
        for place in stride(from: 132, to: 132 + count * 12, by: 12) {
            // Tables outrank primaries and curves.
            guard let name = bytes.name(at: place), let offset = bytes.number(at: place + 4, count: 4),
                !name.hasPrefix("A2B"), !name.hasPrefix("D2B")
            else { return nil }
            tags[name] = offset
        }
    }

    /// X, Y and Z of a tag.
    func color(_ tag: String) -> [Double]? {
        guard let offset = tags[tag], bytes.name(at: offset) == "XYZ " else { return nil }
        let numbers = (0..<3).compactMap { fixed(at: offset + 8 + $0 * 4) }
        return numbers.count == 3 ? numbers : nil
    }

    /// The light of each 8-bit value by a tag's curve.
    func curve(_ tag: String) -> [Double]? {
        guard let offset = tags[tag] else { return nil }
        let light: [Double]? = bytes.name(at: offset) == "curv" ? table(at: offset + 8) : formula(at: offset)
        return light?.allSatisfy { (0...1).contains($0) } == true ? light : nil
    }

    private func table(at offset: Int) -> [Double]? {
        guard let count = bytes.number(at: offset, count: 4) else { return nil }
        guard count > 1 else {
            let gamma = count == 0 ? 1 : bytes.number(at: offset + 4, count: 2).map { Double($0) / 256 }
            return gamma.map { gamma in Self.values { pow($0, gamma) } }
        }
        guard bytes.slice(at: offset + 4, count: count * 2) != nil else { return nil }
        return Self.values { encoded in
            let position = encoded * Double(count - 1)
            let index = min(Int(position), count - 2)
            let (lower, upper) = (entry(index, at: offset), entry(index + 1, at: offset))
            return (lower + (upper - lower) * (position - Double(index))) / 65_535
        }
    }

    private func entry(_ index: Int, at offset: Int) -> Double {
        let place = offset + 4 + index * 2
        return Double(Int(bytes[place]) << 8 | Int(bytes[place + 1]))
    }

    private func formula(at offset: Int) -> [Double]? {
        guard bytes.name(at: offset) == "para", let kind = bytes.number(at: offset + 8, count: 2),
            kind == 0 || kind == 3
        else { return nil }
        let numbers = (0..<(kind == 0 ? 1 : 5)).compactMap { fixed(at: offset + 12 + $0 * 4) }
        switch numbers.count {
        case 1: return Self.values { pow($0, numbers[0]) }
        // (aX + b)^g from d on, else cX.
        case 5:
            return Self.values { $0 >= numbers[4] ? pow(numbers[1] * $0 + numbers[2], numbers[0]) : numbers[3] * $0 }
        default: return nil
        }
    }

    private static func values(_ function: (Double) -> Double) -> [Double] {
        (0...255).map { value in
            let light = function(Double(value) / 255)
            // The numbers of a formula are rounded.
            return light > 1 && light < 1.001 ? 1 : light
        }
    }

    /// An s15Fixed16Number.
    private func fixed(at offset: Int) -> Double? {
        bytes.number(at: offset, count: 4).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
    }
}

/// Compresses light that is brighter than white into the range of sRGB.
///
/// DESIGN: light is measured in units of the reference white (1 is white). Up to three quarters of white nothing
/// changes, so faces and walls look as they were graded. Above, Reinhard's extended curve (Reinhard et al.,
/// "Photographic Tone Reproduction for Digital Images", 2002, equation 4), scaled to continue smoothly from there, maps
/// the nominal peak to exactly 1. White itself becomes 0.875, in sRGB 240 of 255. The curve is applied to a pixel's
/// largest channel and all three are scaled alike, so hues stay and no channel is clipped.
struct ToneCurve: Hashable, Sendable {
    /// The light up to which the curve is the identity.
    static let knee = 0.75

    /// The light that becomes 1; more than 1.
    let peak: Double

    func shown(_ light: Double) -> Double {
        guard light > Self.knee else { return light }
        let room = 1 - Self.knee
        let above = (light - Self.knee) / room
        let highest = (peak - Self.knee) / room
        return min(1, Self.knee + room * above * (1 + above / (highest * highest)) / (1 + above))
    }
}

/// Brightness, then contrast, then saturation; 1 changes nothing.
///
/// The functions are those of CSS of the same names (Filter Effects Module Level 1), which work on encoded sRGB values, not
/// on light, and clip their results.
struct ColorMatrix: Hashable, Sendable {
    /// What brightness and contrast make of each 8-bit value, 0…255.
    let shades: [Double]
    /// How saturation mixes the three channels then: three rows of three factors.
    let factors: [Double]

    init(brightness: Double, contrast: Double, saturation: Double) {
        shades = (0...255).map { value in
            let bright = min(255, Double(value) * brightness)
            return min(255, max(0, bright * contrast + 127.5 - 127.5 * contrast))
        }
        // The luminance weights as the specification rounds them.
        let shares = [0.213, 0.715, 0.072]
        factors = (0..<9).map { index in
            shares[index % 3] * (1 - saturation) + (index / 3 == index % 3 ? saturation : 0)
        }
    }

    var changesNothing: Bool { self == ColorMatrix(brightness: 1, contrast: 1, saturation: 1) }
}
