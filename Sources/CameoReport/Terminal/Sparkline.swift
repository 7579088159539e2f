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
