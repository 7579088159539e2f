/// A change of colours that mixes the three channels and adds to each.
///
/// The factors are those of the filter functions of the same names in CSS (Filter Effects Module Level 1): sRGB's encoded
/// numbers are worked on, not light. Functions that follow one another become one matrix, so nothing is clipped between
/// them.
package struct ColorMatrix: Hashable, Sendable {
    /// Three rows of three.
    package private(set) var factors = [1.0, 0, 0, 0, 1, 0, 0, 0, 1]
    /// Added to every channel, 0…255.
    package private(set) var offset = 0.0

    /// First brightness, then contrast, then saturation; 1 changes nothing.
    package init(brightness: Double, contrast: Double, saturation: Double) {
        offset = 255 * (0.5 - 0.5 * contrast)
        let gain = brightness * contrast
        // The shares of luminance, as the specification rounds them. Each row adds up to 1: the offset passes unchanged.
        let shares = [0.213, 0.715, 0.072]
        factors = (0..<9).map { index in
            let own = index / 3 == index % 3 ? saturation : 0
            return gain * (shares[index % 3] * (1 - saturation) + own)
        }
    }

    /// What happens to a grey.
    package var gain: Double { factors[0] + factors[1] + factors[2] }

    package var changesNothing: Bool { self == ColorMatrix(brightness: 1, contrast: 1, saturation: 1) }
}
