/// A picture as lines of half blocks: two pixels a character, one above the other.
package enum HalfBlocks {
    /// The colours that a terminal can show.
    package enum Colors: Sendable {
        /// 24 bits.
        case all
        /// The palette of 256.
        case palette
        /// None: characters of different density.
        case none
    }

    private static let densities = Array(" .:-=+*#%@")

    package static func lines(_ picture: Pixels, _ colors: Colors) -> [String] {
        stride(from: 0, to: picture.height, by: 2).map { row in
            var (line, last) = ("", "")
            for column in 0..<picture.width {
                let upper = Array(picture[column, row])
                let lower = row + 1 < picture.height ? Array(picture[column, row + 1]) : [0, 0, 0, 0]
                let (character, style) = cell(upper, lower, colors)
                // A terminal keeps the colours until others are named.
                if style != last { line += "\u{1B}[\(style)m" }
                line += character
                last = style
            }
            return line + (colors == .none ? "" : "\u{1B}[0m")
        }
    }

    private static func cell(
        _ upper: [UInt8],
        _ lower: [UInt8],
        _ colors: Colors
    ) -> (character: String, style: String) {
        guard colors != .none else {
            let light = (brightness(upper) + brightness(lower)) / 2
            return (String(densities[min(densities.count - 1, light * densities.count / 256)]), "")
        }
        // The terminal's own background (49) stands behind transparent pixels.
        switch (upper[3] >= 128, lower[3] >= 128) {
        case (true, true): return ("▀", "\(code(upper, 38, colors));\(code(lower, 48, colors))")
        case (true, false): return ("▀", "49;\(code(upper, 38, colors))")
        case (false, true): return ("▄", "49;\(code(lower, 38, colors))")
        case (false, false): return (" ", "49")
        }
    }

    private static func brightness(_ pixel: [UInt8]) -> Int {
        (Int(pixel[0]) * 54 + Int(pixel[1]) * 183 + Int(pixel[2]) * 19) / 256 * Int(pixel[3]) / 255
    }

    /// `kind` is 38 for the foreground, 48 for the background.
    private static func code(_ pixel: [UInt8], _ kind: Int, _ colors: Colors) -> String {
        guard colors == .palette else { return "\(kind);2;\(pixel[0]);\(pixel[1]);\(pixel[2])" }
        // A cube of six levels a channel.
        let levels = pixel.prefix(3).map { (Int($0) * 5 + 127) / 255 }
        return "\(kind);5;\(16 + levels[0] * 36 + levels[1] * 6 + levels[2])"
    }
}
