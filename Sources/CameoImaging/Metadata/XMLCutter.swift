/// Cuts attributes and elements out of an XML text and leaves every other byte as it is.
///
/// It handles tags, quoted values, comments, processing instructions and CDATA, which is all that XMP uses, and rejects
/// anything else. It works on UTF-8 bytes, not on characters: a combining mark after a `<` would make another
/// character.
struct XMLCutter {
    private let text: [UInt8]

    init(_ text: [UInt8]) {
        self.text = text
    }

    /// - Parameter isCut: whether to cut an element or attribute, by its qualified name.
    /// - Returns: nil if the tags are not balanced.
    func removing(where isCut: (String) -> Bool) -> [UInt8]? {
        var kept: [UInt8] = []
        // The number of open elements, and that number at the start of the element being cut.
        var depth = 0
        var cutDepth: Int?
        var rest = text[...]
        while let first = rest.first {
            guard first == Self.less else {
                let plain = rest.prefix { $0 != Self.less }
                if cutDepth == nil { kept += plain }
                rest = rest.dropFirst(plain.count)
                continue
            }
            guard let tag = Self.tag(at: rest) else { return nil }
            rest = rest.dropFirst(tag.count)
            let second = tag.dropFirst().first
            let isWhole = tag.dropLast().last == Self.slash
            if second == UInt8(ascii: "!") || second == UInt8(ascii: "?") {
                if cutDepth == nil { kept += tag }
            } else if second == Self.slash {
                depth -= 1
                guard depth >= 0 else { return nil }
                if cutDepth == nil { kept += tag } else if cutDepth == depth { cutDepth = nil }
            } else {
                if cutDepth == nil {
                    if isCut(Self.name(of: tag)) {
                        if !isWhole { cutDepth = depth }
                    } else {
                        guard let remainder = Self.withoutAttributes(tag, where: isCut) else { return nil }
                        kept += remainder
                    }
                }
                if !isWhole { depth += 1 }
            }
        }
        return depth == 0 ? kept : nil
    }

    private static let less = UInt8(ascii: "<")
    private static let slash = UInt8(ascii: "/")
    private static let space: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    private static let quotes: Set<UInt8> = [UInt8(ascii: "\""), UInt8(ascii: "'")]

    /// The text from a `<` to its closing `>`.
    private static func tag(at rest: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        for (opening, closing) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
        where rest.starts(with: opening.utf8) {
            let inside = rest.dropFirst(opening.utf8.count)
            let closing = Array(closing.utf8)
            return inside.firstRange(of: closing).map { rest[..<$0.upperBound] }
        }
        var quote: UInt8?
        for (position, byte) in zip(rest.indices, rest) {
            if let open = quote {
                if byte == open { quote = nil }
            } else if quotes.contains(byte) {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return rest[...position]
            }
        }
        return nil
    }

    private static func name(of tag: ArraySlice<UInt8>) -> String {
        let name = tag.dropFirst().prefix { !space.contains($0) && $0 != slash && $0 != UInt8(ascii: ">") }
        return String(decoding: name, as: UTF8.self)
    }

    /// A start tag without the cut attributes; nil if an attribute is not of the form `name="value"`.
    private static func withoutAttributes(_ tag: ArraySlice<UInt8>, where isCut: (String) -> Bool) -> [UInt8]? {
        let equals = UInt8(ascii: "=")
        let start = tag.prefix(1 + name(of: tag).utf8.count)
        var kept = Array(start)
        var rest = tag.dropFirst(start.count)
        while true {
            let gap = rest.prefix(while: space.contains)
            rest = rest.dropFirst(gap.count)
            if rest.elementsEqual(">".utf8) || rest.elementsEqual("/>".utf8) { return kept + gap + rest }
            let name = rest.prefix { !space.contains($0) && $0 != equals }
            let assignment = rest.dropFirst(name.count).prefix { space.contains($0) || $0 == equals }
            let value = rest.dropFirst(name.count + assignment.count)
            guard !gap.isEmpty, !name.isEmpty, assignment.count(where: { $0 == equals }) == 1, let quote = value.first,
                quotes.contains(quote), let end = value.dropFirst().firstIndex(of: quote)
            else { return nil }
            if !isCut(String(decoding: name, as: UTF8.self)) { kept += gap + name + assignment + value[...end] }
            rest = value[end...].dropFirst()
        }
    }
}
