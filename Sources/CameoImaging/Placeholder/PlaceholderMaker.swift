package import CameoModel
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

/// The most common colour of a picture.
package enum DominantColor {
    /// The mean of the fullest of 4,096 boxes of similar colours (16 steps per channel), each pixel weighted by its
    /// alpha; always opaque. Ties go to the darkest box by red, green, blue. White if nothing is visible.
    package static func color(of picture: SmallPicture) -> Color {
        var counts = [Int](repeating: 0, count: 4_096)
        for index in stride(from: 0, to: picture.rgba.count, by: 4) {
            counts[box(of: picture.rgba, at: index)] += Int(picture.rgba[index + 3])
        }
        var fullest = 0
        for (box, count) in counts.enumerated() where count > counts[fullest] { fullest = box }
        let weight = counts[fullest]
        guard weight > 0 else { return .white }

        var sums = [0, 0, 0]
        for index in stride(from: 0, to: picture.rgba.count, by: 4) where box(of: picture.rgba, at: index) == fullest {
            for band in 0..<3 { sums[band] += Int(picture.rgba[index + band]) * Int(picture.rgba[index + 3]) }
        }
        let mean = sums.map { UInt8(($0 + weight / 2) / weight) }
        return Color(red: mean[0], green: mean[1], blue: mean[2], alpha: 255)
    }

    private static func box(of rgba: [UInt8], at index: Int) -> Int {
        Int(rgba[index] >> 4) << 8 | Int(rgba[index + 1] >> 4) << 4 | Int(rgba[index + 2] >> 4)
    }
}
