internal import Foundation

/// A picture of at most 32 × 32 pixels in about 25 bytes, stored as a discrete cosine transform. The decoder follows
/// the reference: https://github.com/evanw/thumbhash/blob/main/js/thumbhash.js
struct ThumbHash: Sendable {
    /// The mean and the other coefficients of one channel: luma, a colour difference or alpha.
    private struct Channel: Sendable {
        let mean: Double
        /// Those of the low frequencies.
        let coefficients: [(column: Int, row: Int, value: Double)]

        func value(_ horizontal: [Double], _ vertical: [Double]) -> Double {
            coefficients.reduce(mean) { $0 + $1.value * horizontal[$1.column] * vertical[$1.row] * 2 }
        }
    }

    let width: Int
    let height: Int
    private let luma, p, q: Channel
    private let alpha: Channel?

    /// Returns nil for bytes that are not a ThumbHash.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 5 else { return nil }
        let header = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
        let second = Int(bytes[3]) | Int(bytes[4]) << 8
        let hasAlpha = header >> 23 != 0
        let isLandscape = second >> 15 != 0
        guard !hasAlpha || bytes.count > 5 else { return nil }
        let short = second & 7
        let long = hasAlpha ? 5 : 7
        let columns = max(3, isLandscape ? long : short)
        let rows = max(3, isLandscape ? short : long)
        let shape = Double(isLandscape ? long : short) / Double(isLandscape ? short : long)
        guard short > 0 else { return nil }
        width = max(1, Int((shape > 1 ? 32 : 32 * shape).rounded()))
        height = max(1, Int((shape > 1 ? 32 / shape : 32).rounded()))

        var nibble = (hasAlpha ? 6 : 5) * 2
        func channel(_ mean: Double, _ columns: Int, _ rows: Int, scale: Double) -> Channel? {
            var coefficients: [(Int, Int, Double)] = []
            for row in 0..<rows {
                // Only the triangle of low frequencies is stored, without the mean.
                var column = row > 0 ? 0 : 1
                while column * rows < columns * (rows - row) {
                    guard nibble / 2 < bytes.count else { return nil }
                    let bits = bytes[nibble / 2] >> (nibble % 2 == 0 ? 0 : 4) & 15
                    coefficients.append((column, row, (Double(bits) / 7.5 - 1) * scale))
                    nibble += 1
                    column += 1
                }
            }
            return Channel(mean: mean, coefficients: coefficients)
        }
        let lumaScale = Double(header >> 18 & 31) / 31
        let pScale = Double(second >> 3 & 63) / 63
        let qScale = Double(second >> 9 & 63) / 63
        guard let luma = channel(Double(header & 63) / 63, columns, rows, scale: lumaScale),
            let p = channel(Double(header >> 6 & 63) / 31.5 - 1, 3, 3, scale: pScale * 1.25),
            let q = channel(Double(header >> 12 & 63) / 31.5 - 1, 3, 3, scale: qScale * 1.25)
        else { return nil }
        (self.luma, self.p, self.q) = (luma, p, q)
        alpha = hasAlpha ? channel(Double(bytes[5] & 15) / 15, 5, 5, scale: Double(bytes[5] >> 4) / 15) : nil
        guard hasAlpha == (alpha != nil) else { return nil }
    }

    /// The decoded picture: red, green, blue and alpha of each pixel, row by row.
    func pixels() -> [UInt8] {
        let horizontal = (0..<width).map { Self.cosines(of: $0, in: width) }
        let vertical = (0..<height).map { Self.cosines(of: $0, in: height) }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 4)
        for y in 0..<height {
            for x in 0..<width {
                let l = luma.value(horizontal[x], vertical[y])
                let p = p.value(horizontal[x], vertical[y])
                let q = q.value(horizontal[x], vertical[y])
                let blue = l - 2.0 / 3 * p
                let red = (3 * l - blue + q) / 2
                let opacity = alpha?.value(horizontal[x], vertical[y]) ?? 1
                for share in [red, red - q, blue, opacity] { pixels.append(UInt8(255 * min(max(share, 0), 1))) }
            }
        }
        return pixels
    }

    /// As many as the most frequencies of a channel.
    private static func cosines(of place: Int, in length: Int) -> [Double] {
        (0..<7).map { cos(Double.pi / Double(length) * (Double(place) + 0.5) * Double($0)) }
    }
}
