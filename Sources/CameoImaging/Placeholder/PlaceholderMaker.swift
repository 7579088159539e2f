internal import CameoModel
internal import Foundation

/// What can be shown before a thumbnail has been loaded, from the thumbnail's own pixels.
enum PlaceholderMaker {
    /// The picture is the first frame of a finished rendition: 8 bits, grey or sRGB, with alpha or without; best in
    /// memory already, since all its pixels are read. Fails where a pixel cannot be computed.
    static func placeholder(of picture: borrowing VipsPicture) throws(ImagingError) -> Placeholder {
        let (size, bands) = (PixelSize(picture.width, picture.height), picture.bands)
        let small = picture.withPixels { SmallPicture(averaging: $0, of: size, bands: bands) }
        guard let small else { throw .processingFailed(step: "placeholder", detail: VipsLibrary.takeErrorText()) }
        return Placeholder(
            thumbHash: Data(ThumbHash.bytes(of: small)).base64EncodedString(),
            blurHash: BlurHash.text(of: small),
            dominantColor: DominantColor.color(of: small)
        )
    }
}
