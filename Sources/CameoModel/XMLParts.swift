/// The tags of an XML text and what is between them, up to what is none: tags, quoted values, comments, instructions and CDATA. It
/// works on UTF-8 bytes, not on characters: a combining mark after a `<` would make another character.
package struct XMLParts: IteratorProtocol {
    package enum Kind: Hashable {
        case text
        case start(isWhole: Bool)
        case end
        /// A comment, CDATA, a declaration or an instruction.
        case other
    }

    private static let quotes = [UInt8(ascii: "\""), UInt8(ascii: "'")]

    private var rest: ArraySlice<UInt8>

    package init(_ text: [UInt8]) { rest = text[...] }

    package var isAtEnd: Bool { rest.isEmpty }
    /// Whether an end tag comes next.
    package var isBeforeEnd: Bool { rest.starts(with: "</".utf8) }

    package mutating func next() -> (Kind, ArraySlice<UInt8>)? {
        guard let first = rest.first else { return nil }
        guard first == UInt8(ascii: "<") else {
            let end = rest.firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex
            defer { rest = rest[end...] }
            return (.text, rest[..<end])
        }
        guard let tag else { return nil }
        rest = rest[tag.endIndex...]
        switch tag.dropFirst().first {
        case UInt8(ascii: "!"), UInt8(ascii: "?"): return (.other, tag)
        case UInt8(ascii: "/"): return (.end, tag)
        default: return (.start(isWhole: tag.dropLast().last == UInt8(ascii: "/")), tag)
        }
    }

    /// The text from a `<` to its closing `>`.
    private var tag: ArraySlice<UInt8>? {
        for (opening, closing) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
        where rest.starts(with: opening.utf8) {
            let inside = rest.dropFirst(opening.utf8.count)
            return inside.firstRange(of: Array(closing.utf8)).map { rest[..<$0.upperBound] }
        }
        var start = rest.startIndex
        while let next = rest[start...].firstIndex(where: { $0 == UInt8(ascii: ">") || Self.quotes.contains($0) }) {
            if rest[next] == UInt8(ascii: ">") { return rest[...next] }
            guard let end = rest[(next + 1)...].firstIndex(of: rest[next]) else { return nil }
            start = end + 1
        }
        return nil
    }

    /// The name of a tag that begins an element.
    package static func name(of tag: ArraySlice<UInt8>) -> String {
        let name = tag.dropFirst().prefix { !$0.isASCIISpace && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
        return String(decoding: name, as: UTF8.self)
    }

    /// The attributes of a start tag with all that is between them, and its end; nil if one is not of the form `name="value"`.
    package static func attributes(
        of tag: ArraySlice<UInt8>
    ) -> (attributes: [(name: String, value: ArraySlice<UInt8>, text: ArraySlice<UInt8>)], end: ArraySlice<UInt8>)? {
        let equals = UInt8(ascii: "=")
        var found: [(String, ArraySlice<UInt8>, ArraySlice<UInt8>)] = []
        var rest = tag.dropFirst(1 + name(of: tag).utf8.count)
        while true {
            let gap = rest.prefix(while: \.isASCIISpace)
            let named = rest.dropFirst(gap.count)
            if named.elementsEqual(">".utf8) || named.elementsEqual("/>".utf8) { return (found, rest) }
            let name = named.prefix { !$0.isASCIISpace && $0 != equals }
            let assignment = named.dropFirst(name.count).prefix { $0.isASCIISpace || $0 == equals }
            let value = named.dropFirst(name.count + assignment.count)
            guard !gap.isEmpty, !name.isEmpty, assignment.count(where: { $0 == equals }) == 1, let quote = value.first,
                quotes.contains(quote), let end = value.dropFirst().firstIndex(of: quote)
            else { return nil }
            found.append((String(decoding: name, as: UTF8.self), value[..<end].dropFirst(), rest[...end]))
            rest = value[end...].dropFirst()
        }
    }

    /// The text behind the references of XML; those that it does not define stay.
    package static func unescaped(_ text: some Collection<UInt8>) -> String {
        resolved(text, keepingUnknown: true) ?? ""
    }

    /// The same, or nil if XML does not define one of them.
    package static func resolved(_ text: some Collection<UInt8>, keepingUnknown: Bool = false) -> String? {
        let parts = text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        var result = Array(parts[0])
        for part in parts.dropFirst() {
            let end = part.firstIndex(of: UInt8(ascii: ";"))
            if let end, let character = character(String(decoding: part[..<end], as: UTF8.self)) {
                result += character.utf8
                result += part[end...].dropFirst()
            } else {
                guard keepingUnknown else { return nil }
                result += "&".utf8
                result += part
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func character(_ name: String) -> String? {
        guard name.hasPrefix("#") else { return ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"][name] }
        let digits = name.dropFirst()
        let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).flatMap { $0.value == 0 ? nil : String($0) }
    }
}
