internal import CameoReport

/// The text of a progress bar.
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
