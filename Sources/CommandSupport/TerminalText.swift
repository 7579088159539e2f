/// Makes foreign text safe to show on a terminal: sources and messages may contain escape sequences.
package enum TerminalText {
    /// The text with control characters, and characters that reorder or hide text, shown as `\u{…}`.
    package static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isDangerous) else { return text }
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isDangerous(scalar) {
                safe.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            } else {
                safe.append(scalar)
            }
        }
        return String(safe)
    }

    /// The text in at most `limit` characters; an ellipsis marks the cut.
    package static func escaped(_ text: String, limit: Int) -> String {
        let safe = escaped(text)
        return safe.count <= limit ? safe : safe.prefix(limit - 1) + "…"
    }

    private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: true
        default: false
        }
    }
}
