/// Compresses light that is brighter than white into the range of sRGB.
///
/// DESIGN: light is measured in units of the reference white (1 is white). Up to three quarters of white nothing
/// changes, so faces and walls look as they were graded. Above, Reinhard's extended curve (Reinhard et al.,
/// "Photographic Tone Reproduction for Digital Images", 2002, equation 4), scaled to continue smoothly from there, maps
/// the nominal peak to exactly 1. White itself becomes 0.875, in sRGB 240 of 255. The curve is applied to a pixel's
/// largest channel and all three are scaled alike, so hues stay and no channel is clipped.
package struct ToneCurve: Hashable, Sendable {
    /// The light up to which the curve is the identity.
    package static let knee = 0.75

    /// The light that becomes 1; more than 1.
    package let peak: Double

    package init(peak: Double) {
        self.peak = peak
    }

    package func shown(_ light: Double) -> Double {
        guard light > Self.knee else { return light }
        let room = 1 - Self.knee
        let above = (light - Self.knee) / room
        let highest = (peak - Self.knee) / room
        return min(1, Self.knee + room * above * (1 + above / (highest * highest)) / (1 + above))
    }
}
