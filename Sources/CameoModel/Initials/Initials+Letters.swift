internal import Foundation

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
}
