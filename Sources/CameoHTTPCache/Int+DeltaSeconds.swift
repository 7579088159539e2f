extension Int {
    /// The value that stands for any greater number of seconds (section 1.2.2).
    static let mostDeltaSeconds = 1 << 31

    /// Reads digits alone (section 1.2.2); nil for any other text. However many there are, the result is at most 2³¹.
    init?(deltaSeconds text: String) {
        guard !text.isEmpty else { return nil }
        self = 0
        for byte in text.utf8 {
            guard let digit = byte.digit else { return nil }
            self = Swift.min(self * 10 + digit, Self.mostDeltaSeconds)
        }
    }
}
