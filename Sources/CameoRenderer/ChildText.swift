/// The one way of a child's words into a message or a log: a child that was taken over chooses them.
enum ChildText {
    enum Part {
        case start, end
    }

    /// Unicode scalars that are kept.
    private static let maximumScalars = 500

    /// The text on one line, without what a terminal or a reader of logs would take for more than text: control and
    /// format characters (which turn the direction of writing around them) and separators of lines. Of one that is too
    /// long a part is kept.
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
