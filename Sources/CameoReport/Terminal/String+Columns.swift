// Text in the columns of a terminal: East Asian characters and emoji take two.
extension String {
    /// The number of columns that the text takes.
    package var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The text in at most `limit` columns; an ellipsis marks the cut.
    package func cut(toColumns limit: Int) -> String {
        guard columns > limit else { return self }
        var (result, left) = ("", limit - 1)
        for character in self {
            guard character.columns <= left else { break }
            result.append(character)
            left -= character.columns
        }
        return limit > 0 ? result + "…" : ""
    }

    /// The beginning and the end, which tells paths apart, in at most so many columns.
    func cutInTheMiddle(toColumns limit: Int) -> String {
        guard columns > limit, limit > 2 else { return cut(toColumns: limit) }
        var (end, left) = ("", (limit - 1) * 2 / 3)
        for character in reversed() {
            guard character.columns <= left else { break }
            end.insert(character, at: end.startIndex)
            left -= character.columns
        }
        return cut(toColumns: limit - end.columns) + end
    }

    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - columns))
    }

    func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - columns)) + self
    }
}

extension Character {
    /// The columns that a terminal usually gives the character (Unicode TR 11, "wide" and "fullwidth").
    fileprivate var columns: Int {
        guard let scalar = unicodeScalars.first, !isASCII else { return 1 }
        if scalar.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch scalar.value {
        case 0x0300...0x036F, 0x200B...0x200F: return 0
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
