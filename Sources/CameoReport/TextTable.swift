/// Rows of text in columns that fit a terminal.
struct TextTable {
    struct Column {
        let title: String
        let isNumber: Bool
        /// Whether the column may be cut to make the table fit.
        let isFlexible: Bool
        /// Whether it is cut in the middle.
        var keepsEnd = false

        static func number(_ title: String) -> Column { Column(title: title, isNumber: true, isFlexible: false) }
        static func word(_ title: String) -> Column { Column(title: title, isNumber: false, isFlexible: false) }
        static func text(_ title: String) -> Column { Column(title: title, isNumber: false, isFlexible: true) }
        static func path(_ title: String) -> Column {
            Column(title: title, isNumber: false, isFlexible: true, keepsEnd: true)
        }
    }

    private static let gap = 2
    /// A flexible column is not cut below this.
    private static let narrowest = 12
    /// To what columns that keep their ends are cut before any other is.
    private static let narrow = 20

    let columns: [Column]
    /// Harmless text, a cell for each column.
    var rows: [[String]] = []

    /// The heading and the rows, in at most `limit` columns if there is such a limit. A column without content is left out.
    func lines(fitting limit: Int?, _ style: TextStyle) -> [String] {
        let shown = columns.indices.filter { index in rows.contains { !$0[index].isEmpty } || rows.isEmpty }
        let table = [columns.map(\.title)] + rows
        var widths = columns.indices.map { index in table.reduce(0) { max($0, $1[index].columns) } }
        if let limit { shrink(&widths, shown, to: limit) }
        let lines: [String] = table.map { row in
            let cells = shown.map { index in
                let (text, width) = (row[index], widths[index])
                let cell = columns[index].keepsEnd ? text.cutInTheMiddle(toColumns: width) : text.cut(toColumns: width)
                return columns[index].isNumber ? cell.leftPadded(to: widths[index]) : cell.padded(to: widths[index])
            }
            var line = cells.joined(separator: String(repeating: " ", count: Self.gap))
            while line.last == " " { line.removeLast() }
            return limit.map { line.cut(toColumns: $0) } ?? line
        }
        return [style.heading(lines[0])] + lines.dropFirst()
    }

    /// Takes columns from the widest flexible column until the table fits, and first from those that keep their ends.
    private func shrink(_ widths: inout [Int], _ shown: [Int], to limit: Int) {
        let flexible = shown.filter { columns[$0].isFlexible }
        for (indices, least) in [(flexible.filter { columns[$0].keepsEnd }, Self.narrow), (flexible, Self.narrowest)] {
            while shown.reduce(-Self.gap, { $0 + widths[$1] + Self.gap }) > limit,
                let widest = indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > least
            {
                widths[widest] -= 1
            }
        }
    }
}

/// Colours for a terminal, or none. Text is laid out before it is coloured, because the colours' escape sequences take no
/// columns.
package enum TextStyle: Sendable {
    case plain, colored

    func heading(_ text: String) -> String { wrapped(text, "1") }
    /// Something that an operator should look at.
    func alarm(_ text: String) -> String { wrapped(text, "31") }
    /// Something of less importance.
    func faint(_ text: String) -> String { wrapped(text, "2") }

    private func wrapped(_ text: String, _ code: String) -> String {
        self == .colored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// Numbers over time as a line of bars.
package enum Sparkline {
    private static let bars = Array("▁▂▃▄▅▆▇█")

    /// The last `columns` numbers, none of them negative, from zero to the highest one shown. `▁` is the least that is not
    /// zero; zero is a space.
    package static func text(_ numbers: some BidirectionalCollection<Double>, columns: Int) -> String {
        let shown = numbers.suffix(max(0, columns))
        let highest = shown.max() ?? 0
        return String(
            shown.map { number in
                guard number > 0, highest > 0 else { return " " }
                return bars[min(bars.count - 1, Int(number / highest * Double(bars.count)))]
            }
        )
    }
}

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
