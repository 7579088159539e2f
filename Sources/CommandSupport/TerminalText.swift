/// Text from outside, made safe to show on a terminal: sources and messages may carry escape sequences.
package enum TerminalText {
    /// Control characters and characters that reorder or hide text are shown as `\u{…}`.
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

    /// At most `limit` characters, with the end cut off visibly.
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
