internal import CameoModel
internal import Foundation

// DESIGN. The answers of S3 are elements with text in them, and no more of XML than that is read: attributes are passed
// over, and a document type, comments, sections and instructions are refused, so that there are no entities to expand and
// nothing to fetch. What remains takes less than binding a library for it, and its limits are ours.

/// Parses a server's XML answer, strictly.
struct AnswerParser {
    /// Nothing of S3 nests deeper than four elements.
    private static let depth = 16

    private var rest: ArraySlice<UInt8>

    /// The root element; nil if the bytes are not a complete document of elements and text.
    static func root(of data: Data) -> AnswerElement? {
        var parser = AnswerParser(rest: Array(data)[...])
        parser.skipSpace()
        if parser.skip("<?xml") {
            guard let end = parser.end(of: "?>") else { return nil }
            parser.rest = parser.rest[end...]
        }
        parser.skipSpace()
        guard let root = parser.element(depth: depth) else { return nil }
        parser.skipSpace()
        return parser.rest.isEmpty ? root : nil
    }

    private mutating func element(depth: Int) -> AnswerElement? {
        guard depth > 0, skip("<"), let name = name(), let isEmpty = restOfTag() else { return nil }
        var element = AnswerElement(name: name)
        if isEmpty { return element }
        var text: [UInt8] = []
        while let first = rest.first {
            if first != UInt8(ascii: "<") {
                guard let more = characters() else { return nil }
                text += more
            } else if skip("</") {
                guard self.name() == name, let decoded = String(validating: text, as: UTF8.self) else { return nil }
                skipSpace()
                element.text = decoded
                return skip(">") ? element : nil
            } else {
                guard let child = self.element(depth: depth - 1) else { return nil }
                element.children.append(child)
            }
        }
        return nil
    }

    private mutating func name() -> String? {
        let name = rest.prefix { $0.isASCIIDigit || $0.isASCIILetter || "_-.:".utf8.contains($0) }
        guard let first = name.first, !first.isASCIIDigit, name.count <= 64 else { return nil }
        rest = rest[name.endIndex...]
        return String(decoding: name, as: UTF8.self)
    }

    /// Passes over the attributes; returns whether the tag is an element without contents.
    private mutating func restOfTag() -> Bool? {
        while true {
            skipSpace()
            if skip("/>") { return true }
            if skip(">") { return false }
            guard name() != nil else { return nil }
            skipSpace()
            guard skip("=") else { return nil }
            skipSpace()
            guard let quote = rest.popFirst(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
                let end = rest.firstIndex(of: quote), !rest[..<end].contains(UInt8(ascii: "<"))
            else { return nil }
            rest = rest[(end + 1)...]
        }
    }

    /// Text up to the next tag, with its references resolved.
    private mutating func characters() -> [UInt8]? {
        let raw = rest.prefix { $0 != UInt8(ascii: "<") }
        rest = rest[raw.endIndex...]
        guard raw.contains(UInt8(ascii: "&")) else { return Array(raw) }
        var text: [UInt8] = []
        var left = raw
        while let byte = left.popFirst() {
            guard byte == UInt8(ascii: "&") else {
                text.append(byte)
                continue
            }
            // The longest is `&#x10FFFF;`.
            guard let end = left.prefix(10).firstIndex(of: UInt8(ascii: ";")),
                let scalar = Self.scalar(String(decoding: left[..<end], as: UTF8.self))
            else { return nil }
            text += Array(String(scalar).utf8)
            left = left[(end + 1)...]
        }
        return text
    }

    private static func scalar(_ reference: String) -> Unicode.Scalar? {
        switch reference {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard reference.hasPrefix("#") else { return nil }
            let digits = reference.dropFirst()
            let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return number.flatMap(Unicode.Scalar.init).flatMap { $0.value == 0 ? nil : $0 }
        }
    }

    private mutating func skipSpace() { rest = rest.drop { [0x09, 0x0A, 0x0D, 0x20].contains($0) } }

    private mutating func skip(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard rest.prefix(length).elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: length)) else {
            return false
        }
        rest = rest.dropFirst(length)
        return true
    }

    /// The index after the next occurrence of a text.
    private func end(of text: StaticString) -> Int? {
        let pattern = Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        return rest.indices.first { rest[$0...].starts(with: pattern) }.map { $0 + pattern.count }
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
