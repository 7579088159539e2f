internal import CameoModel
internal import Foundation

/// One line on standard error that is drawn over and over; silent when that is no terminal.
package struct ProgressBar {
    private static let width = 30
    private let isShown = Output.errorIsTerminal
    private let started = ContinuousClock.now
    private var lastDrawn: ContinuousClock.Instant?

    package init() {}

    /// Draws the line, with a `note` of what is worth saying besides the numbers, as "2 discarded".
    package mutating func show(done: Int, of total: Int, note: String = "") {
        guard isShown, lastDrawn.map({ $0.duration(to: .now) > .milliseconds(100) }) ?? true || done == total else {
            return
        }
        lastDrawn = .now
        let fraction = total == 0 ? 1 : min(1, Double(done) / Double(total))
        let filled = Int(fraction * Double(Self.width))
        let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: Self.width - filled)
        let seconds = started.duration(to: .now).seconds
        let rate = seconds > 0 ? Double(done) / seconds : 0
        let rest = rate > 0 && done < total ? ", \(Int((Double(total - done) / rate).rounded(.up))) s left" : ""
        let text = String(format: "%@ %d/%d, %.1f/s", bar, done, total, rate)
        write("\r\u{1B}[K\(text)\(rest)\(note.isEmpty ? "" : ", \(note)")")
    }

    /// Leaves the last line standing.
    package func finish() {
        if isShown, lastDrawn != nil { write("\n") }
    }

    private func write(_ text: String) {
        _ = Output.write(Data(text.utf8), to: STDERR_FILENO)
    }
}
