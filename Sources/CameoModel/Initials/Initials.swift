/// A letter avatar that a source asks for by name alone: `initials:Ada%20Lovelace?size=512&background=%23f5a623`.
package struct Initials: Hashable, Sendable {
    /// One or two grapheme clusters in Unicode's form C, in upper case where the script has case. Nothing in them is
    /// escaped for any markup.
    package let letters: String
    /// Pixels of an edge; it is a drawing, so this is the size that it names, not one that limits it.
    package let size: Int
    package let background: Color
    /// Opaque.
    package let color: Color

    package static let sizeRange = 16...2_048
    package static let defaultSize = 512

    init(letters: String, size: Int, background: Color, color: Color) {
        (self.letters, self.size, self.background, self.color) = (letters, size, background, color)
    }

    /// Whether a URI has the scheme `initials:`, in either case.
    package static func areNamed(by uri: String) -> Bool {
        String(decoding: uri.utf8.prefix(9), as: UTF8.self).lowercased() == "initials:"
    }

    /// An `initials:` URI that leaves nothing open: parsed, it gives the same value whatever palette the reader has.
    /// This is what a renderer gets, and what the source's digest is of.
    package var canonicalText: String {
        func encoded(_ text: String) -> String { PercentEncoding.encoded(text) }
        return "initials:\(encoded(letters))?size=\(size)&background=\(encoded("\(background)"))"
            + "&color=\(encoded("\(color)"))"
    }
}
