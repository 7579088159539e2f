/// Text compared by its bytes. Swift's own comparison treats "é" and "e" plus a combining accent as equal, and would
/// merge two queues, files or URLs whose names differ only in that.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (one: Self, other: Self) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

extension StringProtocol {
    /// The lines without their endings, `\n` or `\r\n`, and without the byte order mark that some editors put first.
    ///
    /// `split(separator: "\n")` would miss the latter ending, because to Swift `\r\n` is one Character of its own.
    package var lines: [SubSequence] {
        (hasPrefix("\u{FEFF}") ? dropFirst() : self[...])
            .split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }
}

extension CaseIterable where Self: RawRepresentable<String> {
    /// The words of all cases, for a message: `jpeg, png`.
    package static var allWords: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension String {
    /// The text with the special characters of HTML and Pango markup escaped.
    package var escapedForMarkup: String { unicodeScalars.map { Self.markup[$0] ?? String($0) }.joined() }

    private static let markup: [Unicode.Scalar: String] = [
        "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
    ]
}

extension UInt8 {
    package var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    package var isASCIILetter: Bool { (0x61...0x7A).contains(self | 0x20) }

    /// Whether it is white space to JSON, XML and HTTP: a space, a tab, or the end of a line.
    package var isASCIISpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

extension Unicode.Scalar {
    /// Whether the scalar is text and nothing else: no control or format character, no line separator.
    package var isText: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }
}
