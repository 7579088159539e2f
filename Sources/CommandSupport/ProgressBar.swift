internal import CameoReport
internal import Synchronization

/// A progress bar that may be updated from any thread; silent if standard error is not a terminal.
package final class ProgressBar: Sendable {
    private let line = StatusLine(after: .zero, every: .milliseconds(100))
    private let pace = Mutex(Pace())

    package init() {}

    /// Draws the line. The `note` follows the numbers, such as "2 discarded"; `left` is the remaining time in seconds
    /// if the caller knows it better than this bar.
    package func show(done: Int, of total: Int, left: Double? = nil, note: String = "") {
        let rate = pace.withLock { pace in
            pace.note(done, at: .now)
            return pace.rate
        }
        let left = left ?? (rate > 0 && done < total ? Double(total - done) / rate : nil)
        let text = ProgressLine(done: done, total: total, rate: rate, secondsLeft: left, note: note)
        // A terminal moves to the next line after a character in its last column.
        line.show(text.text(columns: Output.columns - 1), isLast: done == total)
    }

    /// Leaves the last line on the terminal.
    package func finish() { line.finish() }
}

/// A line on standard error about work that takes a while, redrawn in place; silent if standard error is not a terminal.
package final class StatusLine: Sendable {
    private let isShown = Output.errorIsTerminal
    private let begin: ContinuousClock.Instant
    private let pause: Duration
    private let drawn = Mutex<ContinuousClock.Instant?>(nil)

    /// A line that appears after the delay, and is redrawn after pauses.
    package init(after delay: Duration = .seconds(2), every pause: Duration = .milliseconds(200)) {
        (begin, self.pause) = (ContinuousClock.now + delay, pause)
    }

    /// Draws the line if it is time to, or if it `isLast`.
    package func show(_ text: @autoclosure () -> String, isLast: Bool = false) {
        let now = ContinuousClock.now
        drawn.withLock { drawn in
            guard isShown, isLast || (drawn.map { $0.duration(to: now) > pause } ?? (now >= begin)) else { return }
            drawn = now
            Output.drawStatusLine(text())
        }
    }

    /// Leaves the last line on the terminal.
    package func finish() {
        if drawn.withLock({ $0 }) != nil { Output.endStatusLine() }
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
