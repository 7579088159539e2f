package import Foundation

/// A picture as sixels, six pixels in a character, one below the other
/// (https://vt100.net/docs/vt3xx-gp/chapter14.html).
package enum Sixel {
    /// The most colours that terminals commonly have.
    package static let colors = 256
    /// The most pixels in width and height: xterm shows no larger pictures unless it is told to.
    package static let edge = 1_000
    private static let bandHeight = 6
    private static let percent = 100

    /// The sequence that shows a picture at the cursor. The terminal's background stays behind transparent pixels.
    package static func sequence(_ picture: Pixels, colors: Int) -> Data {
        let palette = Palette(of: picture, limit: min(colors, Self.colors), levels: percent)
        // Pixels that are not drawn stay as they are (1). Pixels are as high as they are wide (1;1).
        var sequence = Array("\u{1B}P0;1q\"1;1;\(picture.width);\(picture.height)".utf8)
        for (index, color) in palette.colors.enumerated() {
            let levels = (0..<3).map { "\(Int(color[$0].rounded()))" }
            sequence += "#\(index);2;\(levels.joined(separator: ";"))".utf8
        }
        for top in stride(from: 0, to: picture.height, by: bandHeight) {
            if top > 0 { sequence.append(UInt8(ascii: "-")) }
            sequence += band(of: picture, top, palette)
        }
        return Data(sequence + Array("\u{1B}\\\n".utf8))
    }

    /// Six rows: each colour's pixels in turn, beginning again at the left (`$`).
    private static func band(of picture: Pixels, _ top: Int, _ palette: Palette) -> [UInt8] {
        var bits: [Int: [UInt8]] = [:]
        let empty = [UInt8](repeating: 0, count: picture.width)
        for row in top..<min(top + bandHeight, picture.height) {
            for column in 0..<picture.width {
                guard let index = palette.index(picture.bytes, (row * picture.width + column) * 4) else { continue }
                bits[index, default: empty][column] |= 1 << (row - top)
            }
        }
        let colors = bits.sorted { $0.key < $1.key }.map { Array("#\($0.key)".utf8) + runs($0.value) }
        return Array(colors.joined(separator: [UInt8(ascii: "$")]))
    }

    /// Equal neighbours as a number and one character (`!12~`), where that is shorter.
    private static func runs(_ columns: [UInt8]) -> [UInt8] {
        var (text, start) = ([UInt8](), 0)
        let end = (columns.lastIndex { $0 != 0 } ?? -1) + 1
        while start < end {
            let next = columns[start..<end].firstIndex { $0 != columns[start] } ?? end
            let character = UInt8(ascii: "?") + columns[start]
            let count = next - start
            text += count > 3 ? Array("!\(count)".utf8) + [character] : Array(repeating: character, count: count)
            start = next
        }
        return text
    }
}
