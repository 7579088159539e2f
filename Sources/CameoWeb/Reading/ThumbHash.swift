internal import Foundation

/// A picture of at most 32 × 32 pixels in about 25 bytes, stored as a discrete cosine transform. The decoder follows
/// the reference: https://github.com/evanw/thumbhash/blob/main/js/thumbhash.js
struct ThumbHash: Sendable {
    /// The mean and the other coefficients of one channel: luma, a colour difference or alpha.
    private struct Channel: Sendable {
        var mean = 0.0
        var columns = 0
        var rows = 0
        var coefficients: [Double] = []

        func value(_ horizontal: [Double], _ vertical: [Double]) -> Double {
            var sum = mean
            var index = 0
            for row in 0..<rows {
                // Only the triangle of low frequencies is stored, without the mean.
                var column = row > 0 ? 0 : 1
                while column * rows < columns * (rows - row) {
                    sum += coefficients[index] * horizontal[column] * vertical[row] * 2
                    index += 1
                    column += 1
                }
            }
            return sum
        }
    }

    /// The width in pixels.
    let width: Int
    /// The height in pixels.
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
            var coefficients: [Double] = []
            for row in 0..<rows {
                var column = row > 0 ? 0 : 1
                while column * rows < columns * (rows - row) {
                    guard nibble / 2 < bytes.count else { return nil }
                    let bits = bytes[nibble / 2] >> (nibble % 2 == 0 ? 0 : 4) & 15
                    coefficients.append((Double(bits) / 7.5 - 1) * scale)
                    nibble += 1
                    column += 1
                }
            }
            return Channel(mean: mean, columns: columns, rows: rows, coefficients: coefficients)
        }
        let lumaScale = Double(header >> 18 & 31) / 31
        let pScale = Double(second >> 3 & 63) / 63
        let qScale = Double(second >> 9 & 63) / 63
        guard let luma = channel(Double(header & 63) / 63, columns, rows, scale: lumaScale),
            let p = channel(Double(header >> 6 & 63) / 31.5 - 1, 3, 3, scale: pScale * 1.25),
            let q = channel(Double(header >> 12 & 63) / 31.5 - 1, 3, 3, scale: qScale * 1.25)
        else { return nil }
        (self.luma, self.p, self.q) = (luma, p, q)
        guard hasAlpha else {
            alpha = nil
            return
        }
        guard let alpha = channel(Double(bytes[5] & 15) / 15, 5, 5, scale: Double(bytes[5] >> 4) / 15) else {
            return nil
        }
        self.alpha = alpha
    }

    /// The decoded picture: red, green, blue and alpha of each pixel, row by row.
    func pixels() -> [UInt8] {
        let most = max(luma.columns, luma.rows, alpha == nil ? 3 : 5)
        let horizontal = (0..<width).map { Self.cosines(of: $0, in: width, most) }
        let vertical = (0..<height).map { Self.cosines(of: $0, in: height, most) }
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

    private static func cosines(of place: Int, in length: Int, _ count: Int) -> [Double] {
        (0..<count).map { cos(Double.pi / Double(length) * (Double(place) + 0.5) * Double($0)) }
    }
}

/// An encoder of small, uncompressed PNG files (https://www.w3.org/TR/png-3/).
enum PlainPNG {
    /// Encodes red, green, blue and alpha of each pixel, row by row: at most 65,535 bytes, counting one more per row.
    static func encode(_ pixels: [UInt8], width: Int, height: Int) -> [UInt8] {
        var lines: [UInt8] = []
        for y in 0..<height { lines += [0] + pixels[(y * width * 4)..<((y + 1) * width * 4)] }
        precondition(lines.count <= 65_535, "a stored block holds at most 65,535 bytes")
        let count = UInt16(lines.count)
        let deflated: [UInt8] =
            [0x78, 0x01, 1, UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8)]
            + lines + bytes(adler(lines))
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", bytes(UInt32(width)) + bytes(UInt32(height)) + [8, 6, 0, 0, 0])
            + chunk("IDAT", deflated) + chunk("IEND", [])
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        return bytes(UInt32(data.count)) + body + bytes(crc(body))
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        [UInt8(number >> 24), UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
    }

    private static func adler(_ data: [UInt8]) -> UInt32 {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in data {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return b << 16 | a
    }

    private static func crc(_ data: [UInt8]) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in data {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}
