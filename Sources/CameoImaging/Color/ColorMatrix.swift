/// A colour change that mixes the three channels and adds an offset to each.
///
/// The factors are those of the CSS filter functions of the same names (Filter Effects Module Level 1), which work on
/// encoded sRGB values, not on light. Consecutive functions become one matrix, so nothing is clipped between them.
package struct ColorMatrix: Hashable, Sendable {
    /// Three rows of three factors.
    package private(set) var factors = [1.0, 0, 0, 0, 1, 0, 0, 0, 1]
    /// The offset added to every channel, 0…255.
    package private(set) var offset = 0.0

    /// Applies brightness, then contrast, then saturation; 1 changes nothing.
    package init(brightness: Double, contrast: Double, saturation: Double) {
        offset = 255 * (0.5 - 0.5 * contrast)
        let gain = brightness * contrast
        // The luminance weights as the specification rounds them. Each row adds up to 1, so the offset is unaffected.
        let shares = [0.213, 0.715, 0.072]
        factors = (0..<9).map { index in
            let own = index / 3 == index % 3 ? saturation : 0
            return gain * (shares[index % 3] * (1 - saturation) + own)
        }
    }

    /// The factor for greys.
    package var gain: Double { factors[0] + factors[1] + factors[2] }

    package var changesNothing: Bool { self == ColorMatrix(brightness: 1, contrast: 1, saturation: 1) }
}
