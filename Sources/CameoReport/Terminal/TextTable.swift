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

    let columns: [Column]
    /// Harmless text, a cell for each column.
    var rows: [[String]] = []

    init(_ columns: Column...) {
        self.columns = columns
    }

    /// The heading and the rows, in at most `limit` columns if there is such a limit. A column without content is left out.
    func lines(fitting limit: Int?) -> [String] {
        let shown = columns.indices.filter { index in rows.contains { !$0[index].isEmpty } || rows.isEmpty }
        let table = [columns.map(\.title)] + rows
        var widths = columns.indices.map { index in table.reduce(0) { max($0, $1[index].columns) } }
        if let limit { shrink(&widths, shown, to: limit) }
        return table.map { row in
            let cells = shown.map { index in
                let (text, width) = (row[index], widths[index])
                let cell = columns[index].keepsEnd ? text.cutInTheMiddle(toColumns: width) : text.cut(toColumns: width)
                return columns[index].isNumber ? cell.leftPadded(to: widths[index]) : cell.padded(to: widths[index])
            }
            var line = cells.joined(separator: String(repeating: " ", count: Self.gap))
            while line.last == " " { line.removeLast() }
            return limit.map { line.cut(toColumns: $0) } ?? line
        }
    }

    /// Takes columns from the widest flexible column until the table fits.
    private func shrink(_ widths: inout [Int], _ shown: [Int], to limit: Int) {
        let flexible = shown.filter { columns[$0].isFlexible }
        while shown.reduce(-Self.gap, { $0 + widths[$1] + Self.gap }) > limit,
            let widest = flexible.max(by: { widths[$0] < widths[$1] }), widths[widest] > Self.narrowest
        {
            widths[widest] -= 1
        }
    }
}
