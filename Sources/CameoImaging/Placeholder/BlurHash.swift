internal import CameoModel
internal import Glibc

/// BlurHash (https://blurha.sh): 28 characters from which a blurred picture can be drawn; the reference is `C/encode.c`
/// of woltapp/blurhash, here with more precise sums.
///
/// BlurHash has no alpha: pixels that are not opaque are shown on white, as formats without alpha show them.
enum BlurHash {
    /// The hash of 4 × 3 waves, or 3 × 4 for a portrait picture.
    static func text(of picture: SmallPicture) -> String {
        let (across, down) = picture.size.height > picture.size.width ? (3, 4) : (4, 3)
        let waves = waves(of: picture, across: across, down: down)
        let others = waves.dropFirst()

        let largest = others.joined().reduce(0) { max($0, abs($1)) }
        let scale = max(0, min(82, Int((largest * 166 - 0.5).rounded(.down))))
        var text = Base83.text(across - 1 + (down - 1) * 9, digits: 1) + Base83.text(scale, digits: 1)
        text += Base83.text(waves[0].reduce(0) { $0 << 8 | encoded($1) }, digits: 4)
        let unit = Double(scale + 1) / 166
        for wave in others { text += Base83.text(wave.reduce(0) { $0 * 19 + step($1 / unit) }, digits: 2) }
        return text
    }

    /// Red, green and blue of each wave in linear light, row by row; the first wave is the mean.
    private static func waves(of picture: SmallPicture, across: Int, down: Int) -> [[Double]] {
        let (width, height) = (picture.size.width, picture.size.height)
        let light = lightOnWhite(picture)
        var waves: [[Double]] = []
        for row in 0..<down {
            let vertical = (0..<height).map { cos(Double.pi * Double(row * $0) / Double(height)) }
            for column in 0..<across {
                let horizontal = (0..<width).map { cos(Double.pi * Double(column * $0) / Double(width)) }
                var (red, green, blue) = (0.0, 0.0, 0.0)
                light.withUnsafeBufferPointer { light in
                    for y in 0..<height {
                        for x in 0..<width {
                            let (wave, index) = (horizontal[x] * vertical[y], (y * width + x) * 3)
                            red += wave * light[index]
                            green += wave * light[index + 1]
                            blue += wave * light[index + 2]
                        }
                    }
                }
                let share = (row == 0 && column == 0 ? 1.0 : 2.0) / Double(width * height)
                waves.append([red * share, green * share, blue * share])
            }
        }
        return waves
    }

    /// The light of every 8-bit value.
    private static let linear = (0...255).map { SRGB.linear(Double($0) / 255) }

    /// Red, green and blue of every pixel in linear light.
    private static func lightOnWhite(_ picture: SmallPicture) -> [Double] {
        var light: [Double] = []
        light.reserveCapacity(picture.size.pixels * 3)
        for index in stride(from: 0, to: picture.rgba.count, by: 4) {
            let alpha = Int(picture.rgba[index + 3])
            for band in 0..<3 {
                let shown = Int(picture.rgba[index + band]) * alpha + 255 * (255 - alpha)
                light.append(linear[(shown + 127) / 255])
            }
        }
        return light
    }

    private static func encoded(_ light: Double) -> Int { Int(SRGB.encoded(max(0, min(1, light))) * 255 + 0.5) }

    /// One of 19 steps of an amplitude of -1…1; 9 is zero.
    private static func step(_ amplitude: Double) -> Int {
        let root = amplitude < 0 ? -(-amplitude).squareRoot() : amplitude.squareRoot()
        return max(0, min(18, Int((root * 9 + 9.5).rounded(.down))))
    }
}

/// Numbers in the base 83 of BlurHash.
enum Base83 {
    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
    )

    /// The number in base 83, most significant digit first.
    static func text(_ number: Int, digits: Int) -> String {
        var (rest, characters) = (number, [Character]())
        for _ in 0..<digits {
            characters.append(alphabet[rest % 83])
            rest /= 83
        }
        return String(characters.reversed())
    }
}

/// The discrete cosine transform of small pictures, by precomputed tables.
struct CosineTransform {
    /// A channel as its mean and the waves around it.
    struct Channel: Hashable {
        let mean: Double
        /// The largest amplitude of a wave.
        let scale: Double
        /// Amplitudes by ascending frequency, row by row, scaled from 0 (−scale) to 1 (scale).
        let shares: [Double]
    }

    /// Smaller amplitudes are rounding noise of the sums.
    private static let smallestAmplitude = 1e-9

    private let size: PixelSize
    /// Cosines indexed by frequency, then by position.
    private let horizontal: [[Double]]
    private let vertical: [[Double]]

    /// Prepares seven waves on either axis, the most that ThumbHash uses.
    init(_ size: PixelSize) {
        self.size = size
        horizontal = Self.waves(of: size.width)
        vertical = Self.waves(of: size.height)
    }

    private static func waves(of edge: Int) -> [[Double]] {
        (0..<7).map { frequency in
            (0..<edge).map { cos(Double.pi / Double(edge) * Double(frequency) * (Double($0) + 0.5)) }
        }
    }

    /// Transforms a channel into the triangle of low frequencies, `across` waves wide and `down` high.
    func channel(_ channel: [Double], across: Int, down: Int) -> Channel {
        var mean = 0.0
        var amplitudes: [Double] = []
        for row in 0..<down {
            var column = 0
            while column * down < across * (down - row) {
                let amplitude = amplitude(of: channel, horizontal[column], vertical[row])
                if row == 0, column == 0 { mean = amplitude } else { amplitudes.append(amplitude) }
                column += 1
            }
        }
        let scale = amplitudes.reduce(0) { max($0, abs($1)) }
        guard scale >= Self.smallestAmplitude else {
            return Channel(mean: mean, scale: 0, shares: amplitudes.map { _ in 0 })
        }
        return Channel(mean: mean, scale: scale, shares: amplitudes.map { 0.5 + 0.5 / scale * $0 })
    }

    private func amplitude(of channel: [Double], _ horizontal: [Double], _ vertical: [Double]) -> Double {
        var sum = 0.0
        channel.withUnsafeBufferPointer { channel in
            for y in 0..<size.height {
                let start = y * size.width
                for x in 0..<size.width { sum += channel[start + x] * horizontal[x] * vertical[y] }
            }
        }
        return sum / Double(size.pixels)
    }
}
