internal import CameoReport

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

/// A line on standard error about work that takes longer than two seconds, redrawn five times a second; silent if standard
/// error is not a terminal.
package struct StatusLine {
    private let isShown = Output.errorIsTerminal
    private let begun = ContinuousClock.now
    private var drawn: ContinuousClock.Instant?

    package init() {}

    package mutating func show(_ text: @autoclosure () -> String) {
        let now = ContinuousClock.now
        guard isShown, begun.duration(to: now) > .seconds(2),
            drawn.map({ $0.duration(to: now) > .milliseconds(200) }) ?? true
        else { return }
        drawn = now
        Output.drawStatusLine(text())
    }

    /// Leaves the last line on the terminal.
    package func finish() {
        if drawn != nil { Output.endStatusLine() }
    }
}

/// The recent rate of progress: over the last minute, as in `cameo-status batch`, excluding what was done before the
/// first observation.
struct Pace {
    private static let window = Duration.seconds(60)
    private var looks: [(time: ContinuousClock.Instant, done: Int)] = []

    mutating func note(_ done: Int, at time: ContinuousClock.Instant) {
        if looks.count > 1, looks[looks.count - 2].time.duration(to: time) < .milliseconds(250) { looks.removeLast() }
        looks.append((time, done))
        while looks.count > 2, looks[1].time.duration(to: time) >= Self.window { looks.removeFirst() }
    }

    /// Items per second.
    var rate: Double {
        guard let first = looks.first, let last = looks.last else { return 0 }
        let seconds = first.time.duration(to: last.time) / .seconds(1)
        return seconds > 0 ? Double(last.done - first.done) / seconds : 0
    }
}

struct ProgressLine {
    private static let widest = 30
    private static let narrowest = 5

    let done: Int
    let total: Int
    /// Items per second.
    let rate: Double
    let secondsLeft: Double?
    let note: String

    /// The text in at most `columns` characters, each one column wide. The bar is dropped first, then the end is cut.
    func text(columns: Int) -> String {
        var words = ["\(done)/\(total)", "\(AmountText.rate(rate))/s"]
        if let secondsLeft { words.append("about \(AmountText.duration(secondsLeft)) left") }
        if !note.isEmpty { words.append(note) }
        let text = words.joined(separator: ", ")
        let room = min(Self.widest, columns - text.count - 1)
        guard room >= Self.narrowest else { return String(text.prefix(max(0, columns))) }
        let share = total == 0 ? 1 : min(1, Double(done) / Double(total))
        let filled = Int(share * Double(room))
        return String(repeating: "█", count: filled) + String(repeating: "·", count: room - filled) + " " + text
    }
}
