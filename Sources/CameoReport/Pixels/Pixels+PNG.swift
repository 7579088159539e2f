internal import CameoModel
package import Foundation

// PNG (https://www.w3.org/TR/png-3/) as a renderer writes it: 8 bits a channel, no palette, no interlacing.
extension Pixels {
    /// The most pixels that are read.
    private static let most = 100_000_000

    /// Reads a renderer's PNG; nil for any other.
    package init?(png: Data) {
        let bytes = [UInt8](png)
        guard bytes.starts(with: PNGFile.signature) else { return nil }
        func number(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        var (header, data): (ArraySlice<UInt8>?, [UInt8]) = (nil, [])
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = number(offset)
            guard length <= bytes.count - offset - 12 else { return nil }
            let content = bytes[offset + 8..<offset + 8 + length]
            switch String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self) {
            case "IHDR" where length == 13: header = content
            case "IDAT": data += content
            default: break
            }
            offset += 12 + length
        }
        guard let header = header.map(Array.init), header[8] == 8, header[10...] == [0, 0, 0] else { return nil }
        func edge(_ start: Int) -> Int { header[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
        let (width, height) = (edge(0), edge(4))
        guard let channels = [0: 1, 2: 3, 4: 2, 6: 4][header[9]], width > 0, height > 0,
            width <= Self.most / height, var rows = try? Inflate.data(data, size: height * (width * channels + 1))
        else { return nil }
        guard Self.removeFilters(&rows, stride: width * channels, channels: channels) else { return nil }
        self.init(width: width, height: height, bytes: Self.pixels(rows, width: width, channels: channels))
    }

    /// Undoes the prediction of each row, which its first byte names.
    private static func removeFilters(_ rows: inout [UInt8], stride: Int, channels: Int) -> Bool {
        for start in Swift.stride(from: 0, to: rows.count, by: stride + 1) {
            let filter = rows[start]
            guard filter <= 4 else { return false }
            for index in start + 1..<start + 1 + stride where filter > 0 {
                let isFirst = index - start <= channels
                let left = isFirst ? 0 : Int(rows[index - channels])
                let above = start == 0 ? 0 : Int(rows[index - stride - 1])
                let diagonal = isFirst || start == 0 ? 0 : Int(rows[index - stride - 1 - channels])
                let predicted =
                    switch filter {
                    case 1: left
                    case 2: above
                    case 3: (left + above) / 2
                    default: nearest(left, above, diagonal)
                    }
                rows[index] &+= UInt8(predicted)
            }
        }
        return true
    }

    /// Paeth's predictor: whichever of the three is nearest to their plane.
    private static func nearest(_ left: Int, _ above: Int, _ diagonal: Int) -> Int {
        let plane = left + above - diagonal
        let (toLeft, toAbove, toDiagonal) = (abs(plane - left), abs(plane - above), abs(plane - diagonal))
        return toLeft <= toAbove && toLeft <= toDiagonal ? left : toAbove <= toDiagonal ? above : diagonal
    }

    private static func pixels(_ rows: [UInt8], width: Int, channels: Int) -> [UInt8] {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(rows.count / (width * channels + 1) * width * 4)
        for start in Swift.stride(from: 0, to: rows.count, by: width * channels + 1) {
            for index in Swift.stride(from: start + 1, to: start + 1 + width * channels, by: channels) {
                let hasColor = channels > 2
                pixels.append(rows[index])
                pixels.append(rows[hasColor ? index + 1 : index])
                pixels.append(rows[hasColor ? index + 2 : index])
                pixels.append(channels % 2 == 0 ? rows[index + channels - 1] : 255)
            }
        }
        return pixels
    }

    /// The picture as a PNG without compression, for a renderer to read.
    package func png() -> Data { PNGFile.picture(bytes, width: width, height: height) }
}
