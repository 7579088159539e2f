internal import Foundation

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

    /// An `initials:` URI with every option set, which parses to the same value whatever the reader's palette. The
    /// renderer receives it, and the source's digest is computed over it.
    package var canonicalText: String {
        func encoded(_ text: String) -> String { PercentEncoding.encoded(text) }
        return "initials:\(encoded(letters))?size=\(size)&background=\(encoded("\(background)"))"
            + "&color=\(encoded("\(color)"))"
    }

    /// Background colours on which white text has a contrast of at least 4.5 (WCAG level AA). The list and its order
    /// must not change: that would change everybody's avatar.
    static let palette = [
        0xC62828, 0xAD1457, 0x6A1B9A, 0x4527A0, 0x283593, 0x1565C0, 0x01579B, 0x006064, 0x00695C, 0x2E7D32, 0x33691E,
        0x6D6400, 0xA84300, 0xBF360C, 0x4E342E, 0x37474F,
    ].map { (rgb: UInt32) in
        Color(red: UInt8(rgb >> 16), green: UInt8(rgb >> 8 & 255), blue: UInt8(rgb & 255), alpha: 255)
    }

    /// The background for a name, stable across processes and machines and independent of case.
    static func background(for name: String) -> Color {
        let number = BlobDigest(of: Array(name.lowercased().utf8)).hex.prefix(8)
        return palette[Int(number, radix: 16).map { $0 % palette.count } ?? 0]
    }
}

extension Color {
    /// Black or white, whichever has more contrast with this colour blended onto white.
    var readableTextColor: Color {
        let luminance = relativeLuminance
        // WCAG 2.1's contrast ratio of the lighter colour to the darker.
        let (white, black) = (1.05 / (luminance + 0.05), (luminance + 0.05) / 0.05)
        return white >= black ? .white : Color(red: 0, green: 0, blue: 0, alpha: 255)
    }

    /// The relative luminance of the colour blended onto white (https://www.w3.org/TR/WCAG21/#dfn-relative-luminance).
    var relativeLuminance: Double {
        func linear(_ channel: UInt8) -> Double {
            let share = Double(alpha) / 255
            let value = Double(channel) / 255 * share + 1 - share
            return value <= 0.040_45 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }
}

extension Initials {
    /// The maximum number of scalars in a letter: more than any family emoji has.
    private static let maximumScalars = 16

    /// Normalises a name to Unicode form C, with single spaces and without invisible characters.
    static func name(_ text: String) throws(InvalidRequest) -> String {
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw refusal("the name of initials has a control character")
        }
        let visible = String(String.UnicodeScalarView(text.unicodeScalars.filter(belongsToName)))
        let words = visible.precomposedStringWithCanonicalMapping.split(whereSeparator: \.isWhitespace)
            .filter { $0.contains(where: isVisible) }
        guard !words.isEmpty else { throw refusal("initials need a name with at least one letter") }
        return words.joined(separator: " ")
    }

    /// The first letter of the first and last words, or of a single word; a single word of at most two letters is used
    /// whole.
    static func letters(of name: String) throws(InvalidRequest) -> String {
        let words = name.split(separator: " ").map { $0.filter(isVisible) }
        guard let first = words.first, let last = words.last else { throw refusal("initials need a name") }
        let taken: [Character]
        if words.count > 1 {
            taken = [first.first, last.first].compactMap(\.self)
        } else {
            taken = first.count <= 2 ? Array(first) : Array(first.prefix(1))
        }
        for letter in taken where letter.unicodeScalars.count > maximumScalars {
            throw refusal("a letter of the initials is longer than \(maximumScalars) code points")
        }
        let letters = taken.map(upperCase)
        guard words.count > 1, wouldMerge(letters) else { return letters.joined() }
        return letters.joined(separator: "\u{200C}")
    }

    /// Whether a scalar is kept. Joiners and flag tags shape letters; other format characters (such as direction marks)
    /// and scalars without a Unicode meaning would be drawn as nothing or as a box.
    private static func belongsToName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}" || (0xE0020...0xE007F).contains(scalar.value)
        case .unassigned, .privateUse, .surrogate: false
        default: true
        }
    }

    private static func isVisible(_ character: Character) -> Bool {
        !character.isWhitespace
            && character.unicodeScalars.contains { scalar in
                !scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isVariationSelector
            }
    }

    /// Uses Unicode's title case, the case of a letter that begins a word. Georgian has none, as its fonts expect. A
    /// letter that would become two (ß) stays as it is.
    private static func upperCase(_ letter: Character) -> String {
        guard let first = letter.unicodeScalars.first else { return "" }
        let rest = String(String.UnicodeScalarView(letter.unicodeScalars.dropFirst()))
        let upper = (first.properties.titlecaseMapping + rest).precomposedStringWithCanonicalMapping
        return upper.count == 1 ? upper : String(letter)
    }

    /// Whether the letters of two words would merge: letters of a cursive script, or two halves of a flag.
    private static func wouldMerge(_ letters: [String]) -> Bool {
        let isCursive = letters.contains { $0.unicodeScalars.contains { (0x600...0x8FF).contains($0.value) } }
        return isCursive || letters.joined().count < letters.count
    }

    /// Parses `initials:NAME`, optionally followed by `?` and `size`, `background` and `color`, joined by `&`. NAME and
    /// the values are percent-encoded UTF-8; a `+` is a plus sign.
    ///
    /// - Throws: `InvalidRequest` with the path `source`.
    package init(parsing uri: String) throws(InvalidRequest) {
        guard SourceScheme(of: uri) == .initials else { throw Self.refusal("is not an initials: URI") }
        let text = uri.utf8.dropFirst(9)
        guard !text.contains(UInt8(ascii: "#")) else {
            throw Self.refusal("an initials: URI has a #, which must be written %23")
        }
        let question = text.firstIndex(of: UInt8(ascii: "?"))
        let name = try Self.name(try Self.decoded(text[..<(question ?? text.endIndex)]))
        let options = try Self.options(text[(question ?? text.endIndex)...].dropFirst())
        let background = try Self.color(options["background"], "background") ?? Self.background(for: name)
        let color = try Self.color(options["color"], "color") ?? background.readableTextColor
        guard color.alpha == 255 else { throw Self.refusal("the color of initials must be opaque") }
        self.init(
            letters: try Self.letters(of: name),
            size: try Self.size(options["size"]),
            background: background,
            color: color
        )
    }

    static func refusal(_ reason: String) -> InvalidRequest { InvalidRequest(path: "source", reason: reason) }

    private static func decoded(_ text: some Sequence<UInt8>) throws(InvalidRequest) -> String {
        guard let bytes = PercentEncoding.decoded(text) else {
            throw refusal("an initials: URI has a % that is not followed by two hexadecimal digits")
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw refusal("an initials: URI is not UTF-8 after percent-decoding")
        }
        return decoded
    }

    private static func options(_ query: Substring.UTF8View) throws(InvalidRequest) -> [String: String] {
        var options: [String: String] = [:]
        for part in query.split(separator: UInt8(ascii: "&")) {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let key = try decoded(pair[0])
            guard ["size", "background", "color"].contains(key) else {
                throw refusal("initials have no option \"\(key)\", only size, background and color")
            }
            guard pair.count == 2 else { throw refusal("the option \(key) of initials has no value") }
            guard options.updateValue(try decoded(pair[1]), forKey: key) == nil else {
                throw refusal("the option \(key) of initials appears twice")
            }
        }
        return options
    }

    private static func size(_ text: String?) throws(InvalidRequest) -> Int {
        guard let text else { return defaultSize }
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let size = Int(text), sizeRange.contains(size) else {
            let allowed = "\(sizeRange.lowerBound) to \(sizeRange.upperBound)"
            throw refusal("the size of initials must be \(allowed) pixels, not \"\(text)\"")
        }
        return size
    }

    private static func color(_ text: String?, _ option: String) throws(InvalidRequest) -> Color? {
        guard let text else { return nil }
        guard let color = Color(text) else {
            throw refusal("the \(option) of initials must be a colour such as %23rrggbb, not \"\(text)\"")
        }
        return color
    }
}
