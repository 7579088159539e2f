import CameoModel
import Foundation
import Testing

/// How far two pictures of one size are apart.
struct Difference: Sendable, CustomStringConvertible {
    /// CIE 1976 ΔE of the colours as seen on white: 1 is what a trained eye sees side by side.
    let mean: Double
    let percentile95: Double
    /// Mean difference of alpha, of 255.
    let alpha: Double

    var description: String { String(format: "ΔE %.2f mean, %.2f at 95 %%, alpha %.2f", mean, percentile95, alpha) }

    init(_ one: Picture, _ other: Picture) throws {
        try #require(one.width == other.width && one.height == other.height, "two sizes cannot be compared")
        let count = one.width * one.height
        let (first, second) = (one.on(.white).numbers, other.on(.white).numbers)
        var differences: [Double] = []
        differences.reserveCapacity(count)
        var (sum, alpha) = (0.0, 0.0)
        for pixel in 0..<count {
            let start = pixel * 4
            alpha += abs(Double(one.numbers[start + 3] - other.numbers[start + 3]))
            let difference = Lab.difference(
                Lab(first[start], first[start + 1], first[start + 2]),
                Lab(second[start], second[start + 1], second[start + 2])
            )
            sum += difference
            differences.append(difference)
        }
        differences.sort()
        mean = sum / Double(count)
        percentile95 = differences[min(count - 1, count * 95 / 100)]
        self.alpha = alpha / Double(count)
    }
}

/// A colour in CIELAB (CIE 15:2004), white point D65.
struct Lab {
    let lightness, a, b: Double

    /// sRGB's curve, for every whole number.
    private static let light: [Double] = (0...255).map { number in
        let value = Double(number) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    /// From sRGB, 0…255 each.
    init(_ red: Float, _ green: Float, _ blue: Float) {
        let r = Self.light[Int(red + 0.5)]
        let g = Self.light[Int(green + 0.5)]
        let b = Self.light[Int(blue + 0.5)]
        let x = Self.curve((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047)
        let y = Self.curve(0.2126729 * r + 0.7151522 * g + 0.0721750 * b)
        let z = Self.curve((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883)
        lightness = 116 * y - 16
        a = 500 * (x - y)
        self.b = 200 * (y - z)
    }

    private static func curve(_ value: Double) -> Double {
        value > 216.0 / 24_389 ? cbrt(value) : (24_389.0 / 27 * value + 16) / 116
    }

    static func difference(_ one: Lab, _ other: Lab) -> Double {
        let (l, a, b) = (one.lightness - other.lightness, one.a - other.a, one.b - other.b)
        return (l * l + a * a + b * b).squareRoot()
    }
}

extension Lab {
    /// From sRGB, 0…255 each.
    init(_ color: [Double]) { self.init(Float(color[0]), Float(color[1]), Float(color[2])) }
}
