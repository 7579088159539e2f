internal import CameoModel
internal import Foundation

/// Cuts attributes and elements out of an XML text and leaves every other byte as it is.
///
/// It handles what ``XMLParts`` knows, which is all that XMP uses, and rejects anything else.
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
                    if isCut(XMLParts.name(of: part)) {
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

    /// A start tag without the cut attributes; nil if an attribute is not of the form `name="value"`.
    private static func withoutAttributes(_ tag: ArraySlice<UInt8>, where isCut: (String) -> Bool) -> [UInt8]? {
        guard let (attributes, end) = XMLParts.attributes(of: tag) else { return nil }
        let start = tag.prefix(1 + XMLParts.name(of: tag).utf8.count)
        return attributes.reduce(into: Array(start)) { if !isCut($1.name) { $0 += $1.text } } + end
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
                    let value = XMLParts.unescaped(content)
                    if !value.allSatisfy(\.isWhitespace) { found[owner, default: []].append(value) }
                }
            case .start(let isWhole):
                guard let (attributes, _) = XMLParts.attributes(of: part) else { return [:] }
                for (name, value, _) in attributes where names.contains(name) {
                    found[name, default: []].append(XMLParts.unescaped(value))
                }
                if !isWhole { path.append(XMLParts.name(of: part)) }
            }
            content = []
        }
        return parts.isAtEnd ? found : [:]
    }
}
