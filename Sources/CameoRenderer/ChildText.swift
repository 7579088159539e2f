/// Sanitises a child's text for messages and logs, since a compromised child chooses it.
enum ChildText {
    enum Part {
        case start, end
    }

    /// The most Unicode scalars that are kept.
    private static let maximumScalars = 500

    /// The text on one line, without characters that a terminal or log reader would treat as more than text: control
    /// and format characters (which include those that change the writing direction) and line separators. A text that
    /// is too long is shortened to its start or end.
    static func printable(_ text: String, keeping part: Part = .start) -> String {
        let scalars = text.unicodeScalars.filter(isText)
        guard scalars.count > maximumScalars else { return String(String.UnicodeScalarView(scalars)) }
        switch part {
        case .start: return String(String.UnicodeScalarView(scalars.prefix(maximumScalars - 1))) + "…"
        case .end: return "…" + String(String.UnicodeScalarView(scalars.suffix(maximumScalars - 1)))
        }
    }

    private static func isText(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
