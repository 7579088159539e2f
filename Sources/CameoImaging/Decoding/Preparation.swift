internal import CameoModel

/// What the steps before the parting need to know.
struct Preparation {
    let format: PictureFormat
    /// In the pixels as stored, before the orientation is applied; nil keeps every pixel.
    let sharedSize: PixelSize?
    /// Where the file names its colours by code points, which outrank a profile.
    var codedColor: CodedColor?
}
