internal import CameoModel
internal import Foundation

/// Computes placeholders, which can be shown until the thumbnail has loaded, from the thumbnail's own pixels.
enum PlaceholderMaker {
    /// The placeholder of a finished rendition's first frame: 8 bits, grey or sRGB, with or without alpha. Every pixel
    /// is read, so the picture should be in memory already. Throws if a pixel cannot be computed.
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
