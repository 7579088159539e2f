/// One line on standard error that is drawn over and over; silent when that is no terminal.
package struct ProgressBar {
    private let isShown = Output.errorIsTerminal
    private var lastDrawn: ContinuousClock.Instant?
    private var pace = Pace()

    package init() {}

    /// Draws the line, with a `note` of what is worth saying besides the numbers, as "2 discarded", and the seconds that are
    /// `left` where somebody knows better than this bar.
    package mutating func show(done: Int, of total: Int, left: Double? = nil, note: String = "") {
        pace.note(done, at: .now)
        guard isShown, lastDrawn.map({ $0.duration(to: .now) > .milliseconds(100) }) ?? true || done == total else {
            return
        }
        lastDrawn = .now
        let rate = pace.rate
        let left = left ?? (rate > 0 && done < total ? Double(total - done) / rate : nil)
        let line = ProgressLine(done: done, total: total, rate: rate, secondsLeft: left, note: note)
        // A terminal that has a character in its last column begins the next line.
        Output.stand(line.text(columns: Output.columns - 1))
    }

    /// Leaves the last line standing.
    package func finish() {
        if isShown, lastDrawn != nil { Output.stopStanding() }
    }
}
