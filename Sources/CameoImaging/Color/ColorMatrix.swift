/// Brightness, then contrast, then saturation; 1 changes nothing.
///
/// The functions are those of CSS of the same names (Filter Effects Module Level 1), which work on encoded sRGB values, not
/// on light, and clip their results.
package struct ColorMatrix: Hashable, Sendable {
    /// What brightness and contrast make of each 8-bit value, 0…255.
    package let shades: [Double]
    /// How saturation mixes the three channels then: three rows of three factors.
    package let factors: [Double]

    package init(brightness: Double, contrast: Double, saturation: Double) {
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

    package var changesNothing: Bool { self == ColorMatrix(brightness: 1, contrast: 1, saturation: 1) }
}
