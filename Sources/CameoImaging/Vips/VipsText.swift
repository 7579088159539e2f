internal import CVips

/// What can be drawn with the fonts of this machine.
enum VipsText {
    /// Whether every letter is in some font. Marks and joiners do not count: fonts draw them with the letter before
    /// them, or as nothing.
    static func hasFont(for text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark, .format: true
            default: cameo_has_font_for(scalar.value) != 0
            }
        }
    }

    /// The text with everything that has a meaning in Pango's markup spelled so that it has none.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
