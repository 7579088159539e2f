/// The conversion of encoded values 0…1 to light in units of the reference white, and on to sRGB.
extension CodedColor {
    /// The luminance of white paper in HDR, in cd/m² (ITU-R BT.2408, table 1), which corresponds to SDR's white.
    package static let referenceWhite = 203.0

    /// The light of one channel. HLG's must be multiplied by ``displayGain(_:)``.
    package func light(_ encoded: Double) -> Double {
        switch transfer {
        case .sRGB: SRGB.linear(encoded)
        case .pq: PerceptualQuantizer.luminance(encoded) / Self.referenceWhite
        case .hlg: HybridLogGamma.sceneLight(encoded)
        }
    }

    /// The gain for all channels of a pixel whose luminance by ``light(_:)`` is this; 1 except for HLG.
    package func displayGain(_ luminance: Double) -> Double {
        transfer == .hlg ? HybridLogGamma.displayGain(luminance) / Self.referenceWhite : 1
    }

    /// The tone curve; nil if nothing can be brighter than white.
    package var toneCurve: ToneCurve? {
        switch transfer {
        case .sRGB: nil
        case .pq: ToneCurve(peak: PerceptualQuantizer.peak / Self.referenceWhite)
        case .hlg: ToneCurve(peak: HybridLogGamma.peak / Self.referenceWhite)
        }
    }

    package func grey(_ encoded: Double) -> Double {
        let scene = light(encoded)
        let light = scene * displayGain(scene)
        return SRGB.encoded(min(1, toneCurve?.shown(light) ?? light))
    }
}
