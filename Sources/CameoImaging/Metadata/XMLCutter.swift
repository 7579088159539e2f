internal import CameoModel
internal import Foundation

/// Cuts attributes and elements out of an XML text and leaves every other byte as it is.
///
/// It handles tags, quoted values, comments, processing instructions and CDATA, which is all that XMP uses, and rejects
/// anything else. It works on UTF-8 bytes, not on characters: a combining mark after a `<` would make another
/// character.
enum XMLCutter {
    /// `isCut` tells whether to cut an element or attribute, by its qualified name. Nil if the tags are not balanced.
    static func removing(from text: [UInt8], where isCut: (String) -> Bool) -> [UInt8]? {
        // The number of open elements, and that number at the start of the element being cut.
        var (kept, depth, cutDepth): ([UInt8], Int, Int?) = ([], 0, nil)
        var parts = XMLParts(text)
        while let (kind, part) = parts.next() {
            switch kind {
            case .end:
                depth -= 1
                guard depth >= 0 else { return nil }
                if cutDepth == nil { kept += part } else if cutDepth == depth { cutDepth = nil }
            case .start(let isWhole):
                if cutDepth == nil {
                    if isCut(name(of: part)) {
                        if !isWhole { cutDepth = depth }
                    } else {
                        guard let remainder = withoutAttributes(part, where: isCut) else { return nil }
                        kept += remainder
                    }
                }
                if !isWhole { depth += 1 }
            case .text, .other: if cutDepth == nil { kept += part }
            }
        }
        return depth == 0 && parts.isAtEnd ? kept : nil
    }

    private static let slash = UInt8(ascii: "/")
    fileprivate static let quotes = [UInt8(ascii: "\""), UInt8(ascii: "'")]

    static func name(of tag: ArraySlice<UInt8>) -> String {
        let name = tag.dropFirst().prefix { !$0.isASCIISpace && $0 != slash && $0 != UInt8(ascii: ">") }
        return String(decoding: name, as: UTF8.self)
    }

    /// A start tag without the cut attributes; nil if an attribute is not of the form `name="value"`.
    private static func withoutAttributes(_ tag: ArraySlice<UInt8>, where isCut: (String) -> Bool) -> [UInt8]? {
        guard let (attributes, end) = attributes(of: tag) else { return nil }
        let start = tag.prefix(1 + name(of: tag).utf8.count)
        return attributes.reduce(into: Array(start)) { if !isCut($1.name) { $0 += $1.text } } + end
    }

    /// The attributes of a start tag with all that is between them, and its end; nil if one is not of the form `name="value"`.
    static func attributes(
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

    /// The texts of the elements and attributes of these qualified names: of an element that has `rdf:li`, one of each. Empty if
    /// the tags are not balanced.
    static func values(of names: Set<String>, in text: [UInt8]) -> [String: [String]] {
        var (found, path, content): ([String: [String]], [String], [UInt8]) = ([:], [], [])
        var parts = XMLParts(text)
        while let (kind, part) = parts.next() {
            switch kind {
            case .text:
                content += part
                continue
            case .other: continue
            case .end:
                guard let name = path.popLast() else { return [:] }
                if let owner = names.contains(name) ? name : name == "rdf:li" ? path.last(where: names.contains) : nil {
                    let value = unescaped(content)
                    if !value.allSatisfy(\.isWhitespace) { found[owner, default: []].append(value) }
                }
            case .start(let isWhole):
                guard let (attributes, _) = attributes(of: part) else { return [:] }
                for (name, value, _) in attributes where names.contains(name) {
                    found[name, default: []].append(unescaped(value))
                }
                if !isWhole { path.append(name(of: part)) }
            }
            content = []
        }
        return parts.isAtEnd ? found : [:]
    }

    /// The text behind the entities of XML; those that it does not define stay.
    static func unescaped(_ text: some Collection<UInt8>) -> String {
        guard text.contains(UInt8(ascii: "&")) else { return String(decoding: text, as: UTF8.self) }
        let parts = String(decoding: text, as: UTF8.self).split(separator: "&", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts.first ?? "")) { result, part in
            let name = part.prefix { $0 != ";" }
            let number =
                name.hasPrefix("#x")
                ? Int(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? Int(name.dropFirst()) : nil
            let character = number.flatMap { UInt32(exactly: $0).flatMap(Unicode.Scalar.init) }.map { String($0) }
            guard name.endIndex < part.endIndex,
                let text = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"][String(name)] ?? character
            else {
                result += "&" + part
                return
            }
            result += text + part[name.endIndex...].dropFirst()
        }
    }

    /// A text as it stands between tags or in quotation marks.
    static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: "&<>\"".utf8.contains) else { return text }
        return [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")].reduce(text) {
            $0.replacing($1.0, with: $1.1)
        }
    }
}

/// The tags of an XML text and what is between them, up to what is none.
struct XMLParts: IteratorProtocol {
    enum Kind: Hashable {
        case text
        case start(isWhole: Bool)
        case end
        /// A comment, CDATA, a declaration or an instruction.
        case other
    }

    private var rest: ArraySlice<UInt8>

    init(_ text: [UInt8]) { rest = text[...] }

    var isAtEnd: Bool { rest.isEmpty }
    /// Whether an end tag comes next.
    var isBeforeEnd: Bool { rest.starts(with: "</".utf8) }

    mutating func next() -> (Kind, ArraySlice<UInt8>)? {
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
        while let next = rest[start...].firstIndex(where: { $0 == UInt8(ascii: ">") || XMLCutter.quotes.contains($0) })
        {
            if rest[next] == UInt8(ascii: ">") { return rest[...next] }
            guard let end = rest[(next + 1)...].firstIndex(of: rest[next]) else { return nil }
            start = end + 1
        }
        return nil
    }
}
