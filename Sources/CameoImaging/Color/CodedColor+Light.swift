/// Numbers 0…1 to light in units of the reference white, and on to numbers of sRGB.
extension CodedColor {
    /// What white paper should have in HDR, cd/m² (ITU-R BT.2408, table 1): where SDR's white is.
    package static let referenceWhite = 203.0

    /// Of each channel by itself. HLG's has to be multiplied by ``displayGain(_:)``.
    package func light(_ encoded: Double) -> Double {
        switch transfer {
        case .sRGB: SRGB.linear(encoded)
        case .pq: PerceptualQuantizer.luminance(encoded) / Self.referenceWhite
        case .hlg: HybridLogGamma.sceneLight(encoded)
        }
    }

    /// For all channels of a pixel whose luminance by ``light(_:)`` is this; 1 but for HLG.
    package func displayGain(_ luminance: Double) -> Double {
        transfer == .hlg ? HybridLogGamma.displayGain(luminance) / Self.referenceWhite : 1
    }

    /// Nil where nothing is brighter than white.
    package var toneCurve: ToneCurve? {
        switch transfer {
        case .sRGB: nil
        case .pq: ToneCurve(peak: PerceptualQuantizer.peak / Self.referenceWhite)
        case .hlg: ToneCurve(peak: HybridLogGamma.peak / Self.referenceWhite)
        }
    }

    /// A grey as sRGB encodes it, 0…1 on both sides.
    package func grey(_ encoded: Double) -> Double {
        let scene = light(encoded)
        let light = scene * displayGain(scene)
        return SRGB.encoded(min(1, toneCurve?.shown(light) ?? light))
    }
}
