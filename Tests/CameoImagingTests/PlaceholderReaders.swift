/// The constants of a ThumbHash, read by its specification (https://evanw.github.io/thumbhash/, "Details").
struct ThumbHashReader {
    /// Red, green, blue, 0…255.
    let mean: [Double]
    /// 0…1.
    let alpha: Double
    /// Waves across and down.
    let edges: [Int]
    /// The largest amplitudes of light, yellow and red, as written.
    let scales: [Int]

    init(_ hash: [UInt8]) {
        let first = Int(hash[0]) | Int(hash[1]) << 8 | Int(hash[2]) << 16
        let second = Int(hash[3]) | Int(hash[4]) << 8
        let light = Double(first & 63) / 63
        let yellow = Double(first >> 6 & 63) / 31.5 - 1
        let red = Double(first >> 12 & 63) / 31.5 - 1
        let hasAlpha = first >> 23 == 1
        let blue = light - 2 / 3 * yellow
        let redness = (3 * light - blue + red) / 2
        mean = [redness, redness - red, blue].map { min(255, max(0, $0 * 255)) }
        alpha = hasAlpha ? Double(hash[5] & 15) / 15 : 1
        let isLandscape = second >> 15 == 1
        edges = isLandscape ? [hasAlpha ? 5 : 7, second & 7] : [second & 7, hasAlpha ? 5 : 7]
        scales = [first >> 18 & 31, second >> 3 & 63, second >> 9 & 63]
    }
}

/// The constants of a BlurHash, read by `Algorithm.md` of woltapp/blurhash.
struct BlurHashReader {
    /// Red, green, blue, 0…255.
    let mean: [Int]
    /// Linear light, 0…1.
    let largestAmplitude: Double

    init(_ text: String) {
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")
        let number = text.dropFirst(2).prefix(4).reduce(0) { $0 * 83 + (alphabet.firstIndex(of: $1) ?? 0) }
        let scale = text.dropFirst().first.flatMap { alphabet.firstIndex(of: $0) } ?? 0
        largestAmplitude = Double(scale + 1) / 166
        mean = [number >> 16, number >> 8 & 255, number & 255]
    }
}
