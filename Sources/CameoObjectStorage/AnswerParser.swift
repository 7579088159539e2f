internal import CameoModel
internal import Foundation

// DESIGN. The answers of S3 are elements with text in them, and no more of XML than that is read: attributes are passed
// over, and a document type, comments, sections and instructions are refused, so that there are no entities to expand and
// nothing to fetch. What remains takes less than binding a library for it, and its limits are ours.

/// Parses a server's XML answer, strictly.
enum AnswerParser {
    /// Nothing of S3 nests deeper than four elements.
    private static let depth = 16

    /// The root element; nil if the bytes are not a complete document of elements and text.
    static func root(of data: Data) -> AnswerElement? {
        // The document comes first.
        var (open, parts) = ([AnswerElement(name: "")], XMLParts(Array(data)))
        while let (kind, part) = parts.next() {
            switch kind {
            case .other:
                guard open.count == 1, open[0].children.isEmpty, part.starts(with: "<?xml".utf8) else { return nil }
            case .text:
                guard String(validating: part, as: UTF8.self) != nil, let text = XMLParts.resolved(part) else {
                    return nil
                }
                open[open.count - 1].text += text
            case .start(let isWhole):
                guard open.count <= depth, let element = element(part) else { return nil }
                if isWhole { open[open.count - 1].children.append(element) } else { open.append(element) }
            case .end:
                guard let element = open.popLast(), !open.isEmpty, element.name == self.element(part.dropFirst())?.name
                else { return nil }
                open[open.count - 1].children.append(element)
            }
        }
        let document = open[0]
        let isComplete = parts.isAtEnd && open.count == 1 && document.children.count == 1
        return isComplete && document.text.utf8.allSatisfy(\.isASCIISpace) ? document.children[0] : nil
    }

    /// The element of a tag, whose attributes are passed over.
    private static func element(_ tag: ArraySlice<UInt8>) -> AnswerElement? {
        let name = XMLParts.name(of: tag)
        guard isName(name), let (attributes, _) = XMLParts.attributes(of: tag),
            attributes.allSatisfy({ isName($0.name) && !$0.value.contains(UInt8(ascii: "<")) })
        else { return nil }
        return AnswerElement(name: name)
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.first?.isASCIIDigit == false
            && text.utf8.allSatisfy { $0.isASCIIDigit || $0.isASCIILetter || "_-.:".utf8.contains($0) }
    }
}

/// An element of a server's XML answer.
struct AnswerElement: Hashable, Sendable {
    let name: String
    /// The text directly in the element.
    var text = ""
    var children: [AnswerElement] = []

    /// The text of the first child of this name.
    subscript(name: String) -> String? { children.first { $0.name == name }?.text }

    func children(_ name: String) -> [AnswerElement] { children.filter { $0.name == name } }
}

/// What a server said in an error.
struct ServerError: Hashable, Sendable {
    /// The code of S3, such as `NoSuchKey`; empty if the answer has none, as that to a HEAD.
    private(set) var code = ""
    private(set) var message = ""

    init() {}

    init(_ body: Data) {
        let root = AnswerParser.root(of: body)
        let error = root?.name == "Error" ? root : root?.children("Error").first
        code = Self.plain(error?["Code"] ?? "", limit: 64)
        message = Self.plain(error?["Message"] ?? "", limit: 200)
    }

    /// Only code and message go into messages: other parts of an answer repeat what was signed, and who signed it.
    func text(status: Int) -> String {
        let words = [code, message].filter { !$0.isEmpty }.joined(separator: ": ")
        return "the server answered \(status)" + (words.isEmpty ? "" : " (\(words))")
    }

    /// Text of a stranger, shortened, and without what would break a line of a log.
    private static func plain(_ text: String, limit: Int) -> String {
        let scalars = text.unicodeScalars.lazy.filter { $0.properties.generalCategory != .control }.prefix(limit)
        return String(String.UnicodeScalarView(scalars)).trimmingCharacters(in: .whitespaces)
    }
}
