/// A line on standard error that is redrawn in place; silent if standard error is not a terminal.
package struct ProgressBar {
    private let isShown = Output.errorIsTerminal
    private var lastDrawn: ContinuousClock.Instant?
    private var pace = Pace()

    package init() {}

    /// Draws the line. The `note` follows the numbers, such as "2 discarded"; `left` is the remaining time in seconds
    /// if the caller knows it better than this bar.
    package mutating func show(done: Int, of total: Int, left: Double? = nil, note: String = "") {
        pace.note(done, at: .now)
        guard isShown, lastDrawn.map({ $0.duration(to: .now) > .milliseconds(100) }) ?? true || done == total else {
            return
        }
        lastDrawn = .now
        let rate = pace.rate
        let left = left ?? (rate > 0 && done < total ? Double(total - done) / rate : nil)
        let line = ProgressLine(done: done, total: total, rate: rate, secondsLeft: left, note: note)
        // A terminal moves to the next line after a character in its last column.
        Output.drawStatusLine(line.text(columns: Output.columns - 1))
    }

    /// Leaves the last line on the terminal.
    package func finish() {
        if isShown, lastDrawn != nil { Output.endStatusLine() }
    }
}
