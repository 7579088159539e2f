internal import Foundation

extension Initials {
    /// More than any emoji of a family has; what piles up more is no letter of a name.
    private static let maximumScalars = 16

    /// A name as people read it: in Unicode's form C, words one space apart, without what is not seen.
    static func name(_ text: String) throws(InvalidRequest) -> String {
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw refusal("the name of initials has a control character")
        }
        let visible = String(String.UnicodeScalarView(text.unicodeScalars.filter(belongsToName)))
        let words = visible.precomposedStringWithCanonicalMapping.split(whereSeparator: \.isWhitespace)
            .filter { $0.contains(where: isSeen) }
        guard !words.isEmpty else { throw refusal("initials need a name with at least one letter") }
        return words.joined(separator: " ")
    }

    /// A name of one word of at most two letters as it is; else the first letter of the first and of the last word.
    static func letters(of name: String) throws(InvalidRequest) -> String {
        let words = name.split(separator: " ").map { $0.filter(isSeen) }
        guard let first = words.first, let last = words.last else { throw refusal("initials need a name") }
        let taken: [Character]
        if words.count > 1 {
            taken = [first.first, last.first].compactMap(\.self)
        } else {
            taken = first.count <= 2 ? Array(first) : Array(first.prefix(1))
        }
        for letter in taken where letter.unicodeScalars.count > maximumScalars {
            throw refusal("a letter of the initials is made of more than \(maximumScalars) code points")
        }
        let letters = taken.map(upperCase)
        guard words.count > 1, staysApartOnlyByForce(letters) else { return letters.joined() }
        return letters.joined(separator: "\u{200C}")
    }

    /// Joiners and the tags of flags shape letters; other format characters (marks of direction, for one) and what
    /// Unicode gives no meaning to would show as nothing or as a box.
    private static func belongsToName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}" || (0xE0020...0xE007F).contains(scalar.value)
        case .unassigned, .privateUse, .surrogate: false
        default: true
        }
    }

    private static func isSeen(_ character: Character) -> Bool {
        !character.isWhitespace
            && character.unicodeScalars.contains { scalar in
                !scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isVariationSelector
            }
    }

    /// By Unicode's title case, which is the upper case of a letter that begins a word: Georgian has none, which its
    /// fonts rely on. Where one letter would become two (ß), it stays.
    private static func upperCase(_ letter: Character) -> String {
        guard let first = letter.unicodeScalars.first else { return "" }
        let rest = String(String.UnicodeScalarView(letter.unicodeScalars.dropFirst()))
        let upper = (first.properties.titlecaseMapping + rest).precomposedStringWithCanonicalMapping
        return upper.count == 1 ? upper : String(letter)
    }

    /// Whether the letters of two words would grow together: those of joined-up scripts, and two halves of a flag.
    private static func staysApartOnlyByForce(_ letters: [String]) -> Bool {
        let isCursive = letters.contains { $0.unicodeScalars.contains { (0x600...0x8FF).contains($0.value) } }
        return isCursive || letters.joined().count < letters.count
    }
}
