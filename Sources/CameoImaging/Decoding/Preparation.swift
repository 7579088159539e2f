internal import CameoModel

/// What the preparation steps need to know.
struct Preparation {
    let format: PictureFormat
    /// The target size in stored pixels, before the orientation is applied; nil keeps every pixel.
    let sharedSize: PixelSize?
    /// The part that is needed of the shrunk picture, in stored pixels; nil for all of it.
    var kept: PixelArea?
    /// The colour space that the file declares by code points, which outrank a profile.
    var codedColor: CodedColor?
    /// The embedded profile, if it is one that Cameo applies.
    var profile: MatrixProfile?
}
