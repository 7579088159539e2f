/// A letter avatar drawn from a name: `initials:Ada%20Lovelace?size=512&background=%23f5a623`.
package struct Initials: Hashable, Sendable {
    /// One or two grapheme clusters in Unicode form C, in upper case where the script has case, not escaped for markup.
    package let letters: String
    /// The edge in pixels. This is the nominal size of a drawing, not a limit.
    package let size: Int
    package let background: Color
    /// The text colour; always opaque.
    package let color: Color

    package static let sizeRange = 16...2_048
    package static let defaultSize = 512

    init(letters: String, size: Int, background: Color, color: Color) {
        (self.letters, self.size, self.background, self.color) = (letters, size, background, color)
    }

    /// Whether a URI has the scheme `initials:`, in any case.
    package static func isInitialsURI(_ uri: String) -> Bool {
        String(decoding: uri.utf8.prefix(9), as: UTF8.self).lowercased() == "initials:"
    }

    /// An `initials:` URI with every option set, which parses to the same value whatever the reader's palette. The
    /// renderer receives it, and the source's digest is computed over it.
    package var canonicalText: String {
        func encoded(_ text: String) -> String { PercentEncoding.encoded(text) }
        return "initials:\(encoded(letters))?size=\(size)&background=\(encoded("\(background)"))"
            + "&color=\(encoded("\(color)"))"
    }
}
