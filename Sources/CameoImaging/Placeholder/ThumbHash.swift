internal import CameoModel

/// ThumbHash (https://evanw.github.io/thumbhash/): about 25 bytes from which a blurred picture with its shape, colours
/// and alpha can be drawn.
///
/// The sums run in the order of the reference (`rgbaToThumbHash` in its JavaScript), so that bits that depend on
/// rounding agree with it. One difference: where a channel is flat, the reference writes the noise of its sums (which
/// decoders multiply by 0), and this implementation writes zero.
enum ThumbHash {
    static func bytes(of picture: SmallPicture) -> [UInt8] {
        let pixels = ThumbHashPixels(picture)
        let (width, height) = (picture.size.width, picture.size.height)
        let limit = Double(pixels.hasAlpha ? 5 : 7)
        let longer = Double(max(width, height))
        let across = max(1, Int((limit * Double(width) / longer).rounded()))
        let down = max(1, Int((limit * Double(height) / longer).rounded()))

        let transform = CosineTransform(picture.size)
        let light = transform.channel(pixels.light, across: max(3, across), down: max(3, down))
        let yellow = transform.channel(pixels.yellow, across: 3, down: 3)
        let red = transform.channel(pixels.red, across: 3, down: 3)
        var channels = [light, yellow, red]

        let isLandscape = width > height
        let first =
            rounded(63 * light.mean) | rounded(31.5 + 31.5 * yellow.mean) << 6 | rounded(31.5 + 31.5 * red.mean) << 12
            | rounded(31 * light.scale) << 18 | (pixels.hasAlpha ? 1 << 23 : 0)
        let second =
            (isLandscape ? down : across) | rounded(63 * yellow.scale) << 3 | rounded(63 * red.scale) << 9
            | (isLandscape ? 1 << 15 : 0)
        var hash = [first, first >> 8, first >> 16, second, second >> 8].map { UInt8($0 & 255) }
        if pixels.hasAlpha {
            let alpha = transform.channel(pixels.alpha, across: 5, down: 5)
            hash.append(UInt8(rounded(15 * alpha.mean) | rounded(15 * alpha.scale) << 4))
            channels.append(alpha)
        }
        let nibbles = channels.flatMap(\.shares).map { UInt8(rounded(15 * $0)) }
        for index in stride(from: 0, to: nibbles.count, by: 2) {
            hash.append(nibbles[index] | (index + 1 < nibbles.count ? nibbles[index + 1] << 4 : 0))
        }
        return hash
    }

    private static func rounded(_ number: Double) -> Int { Int((number + 0.5).rounded(.down)) }
}

/// The channels of ThumbHash, 0…1 or -1…1; transparent pixels are blended with the mean colour.
private struct ThumbHashPixels {
    private(set) var light: [Double] = []
    /// The yellow–blue channel.
    private(set) var yellow: [Double] = []
    /// The red–green channel.
    private(set) var red: [Double] = []
    private(set) var alpha: [Double] = []
    let hasAlpha: Bool

    init(_ picture: SmallPicture) {
        let (count, rgba) = (picture.size.pixels, picture.rgba)
        var (meanRed, meanGreen, meanBlue, sum) = (0.0, 0.0, 0.0, 0.0)
        for index in stride(from: 0, to: count * 4, by: 4) {
            let alpha = Double(rgba[index + 3]) / 255
            meanRed += alpha / 255 * Double(rgba[index])
            meanGreen += alpha / 255 * Double(rgba[index + 1])
            meanBlue += alpha / 255 * Double(rgba[index + 2])
            sum += alpha
        }
        if sum > 0 { (meanRed, meanGreen, meanBlue) = (meanRed / sum, meanGreen / sum, meanBlue / sum) }
        hasAlpha = sum < Double(count)
        for index in stride(from: 0, to: count * 4, by: 4) {
            let alpha = Double(rgba[index + 3]) / 255
            let red = meanRed * (1 - alpha) + alpha / 255 * Double(rgba[index])
            let green = meanGreen * (1 - alpha) + alpha / 255 * Double(rgba[index + 1])
            let blue = meanBlue * (1 - alpha) + alpha / 255 * Double(rgba[index + 2])
            light.append((red + green + blue) / 3)
            yellow.append((red + green) / 2 - blue)
            self.red.append(red - green)
            self.alpha.append(alpha)
        }
    }
}
