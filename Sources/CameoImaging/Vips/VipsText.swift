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
}
