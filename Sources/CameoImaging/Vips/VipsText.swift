internal import CVips

/// The text that the installed fonts can draw.
enum VipsText {
    /// Whether some font has every letter. Marks and joiners do not count: fonts draw them with the preceding letter or
    /// not at all.
    static func hasFont(for text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark, .format: true
            default: cameo_has_font_for(scalar.value) != 0
            }
        }
    }
}
