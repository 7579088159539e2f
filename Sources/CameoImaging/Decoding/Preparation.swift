internal import CameoModel

/// What the preparation steps need to know.
struct Preparation {
    let format: PictureFormat
    /// The target size in stored pixels, before the orientation is applied; nil keeps every pixel.
    let sharedSize: PixelSize?
    /// The colour space that the file declares by code points, which outrank a profile.
    var codedColor: CodedColor?
}
