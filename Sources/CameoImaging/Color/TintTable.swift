package import CameoModel

/// Maps every grey to its tint.
///
/// The mapping is sharp's (`Tint` in its `operations.cc`): lightness stays, the hue is the tint's, and its strength
/// fades towards black and white, which therefore stay unchanged.
package enum TintTable {
    /// 256 colours, indexed by luminance.
    package static func colors(of tint: Color) -> [Color] {
        let hue = LabColor(tint)
        return (0...255).map { (grey: UInt8) in
            let lightness = LabColor(Color(red: grey, green: grey, blue: grey, alpha: 255)).lightness
            let distance = lightness / 100 - 0.5
            let strength = 1 - 4 * distance * distance
            return LabColor(lightness: lightness, a: hue.a * strength, b: hue.b * strength).color
        }
    }
}
