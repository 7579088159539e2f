extension StringProtocol {
    /// The lines without their endings, `\n` or `\r\n`, and without the byte order mark that some editors put first.
    ///
    /// `split(separator: "\n")` would miss the latter ending, because to Swift `\r\n` is one Character of its own.
    package var lines: [SubSequence] {
        (hasPrefix("\u{FEFF}") ? dropFirst() : self[...])
            .split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }
}
