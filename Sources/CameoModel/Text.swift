/// Text compared by its bytes. Swift's own comparison treats "é" and "e" plus a combining accent as equal, and would
/// merge two queues, files or URLs whose names differ only in that.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (one: Self, other: Self) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// Recognises SVG by reading XML text up to its root element.
package enum DrawingText {
    /// UTF-16, with or without a byte order mark, as UTF-8 that declares no encoding; nil for other text.
    package static func transcoded(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        let bytes = Array(bytes), isLittle: Bool
        switch Array(bytes.prefix(2)) {
        case [0xFF, 0xFE], [0x3C, 0]: isLittle = true
        case [0xFE, 0xFF], [0, 0x3C]: isLittle = false
        default: return nil
        }
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map {
            UInt16(bytes[isLittle ? $0 + 1 : $0]) << 8 | UInt16(bytes[isLittle ? $0 : $0 + 1])
        }
        let text = Array(String(decoding: units.first == 0xFEFF ? units.dropFirst() : units[...], as: UTF16.self).utf8)
        guard text.starts(with: "<?xml".utf8), let rest = skip(text[...], past: "?>") else { return text }
        return Array(rest)
    }

    /// Whether the root element is `svg`, after any byte order mark, declaration, comments and document type. Reads
    /// UTF-8, other ASCII-compatible encodings and UTF-16.
    static func isSVG(_ bytes: some Collection<UInt8>) -> Bool {
        var rest = (transcoded(bytes) ?? Array(bytes))[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        while true {
            rest = rest.drop(while: \.isASCIISpace)
            let next: ArraySlice<UInt8>?
            if rest.starts(with: "<?".utf8) {
                next = skip(rest, past: "?>")
            } else if rest.starts(with: "<!--".utf8) {
                next = skip(rest, past: "-->")
            } else if rest.starts(with: "<!DOCTYPE".utf8) {
                next = skipDocumentType(rest)
            } else {
                return isRoot(rest)
            }
            guard let next else { return false }
            rest = next
        }
    }

    private static func skip(_ text: ArraySlice<UInt8>, past end: String) -> ArraySlice<UInt8>? {
        text.firstRange(of: Array(end.utf8)).map { text[$0.upperBound...] }
    }

    /// The declaration ends at the first `>` outside brackets (the internal subset) and quotes.
    private static func skipDocumentType(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var quote: UInt8?
        var depth = 0
        for (index, byte) in zip(text.indices, text) {
            if let open = quote {
                if byte == open { quote = nil }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ">") where depth <= 0: return text[(index + 1)...]
            default: break
            }
        }
        return nil
    }

    /// Whether the text begins with `<svg` or `<prefix:svg`, followed by a character that ends a name.
    private static func isRoot(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.first == UInt8(ascii: "<") else { return false }
        let name = text.dropFirst().prefix { !" \t\n\r>/".utf8.contains($0) }
        guard text.count > name.count + 1 else { return false }
        return name.split(separator: UInt8(ascii: ":")).last?.elementsEqual("svg".utf8) == true && name.count <= 64
    }
}

extension StringProtocol {
    /// The lines without their endings, `\n` or `\r\n`, and without the byte order mark that some editors put first.
    ///
    /// `split(separator: "\n")` would miss the latter ending, because to Swift `\r\n` is one Character of its own.
    package var lines: [SubSequence] {
        (hasPrefix("\u{FEFF}") ? dropFirst() : self[...])
            .split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }
}

extension CaseIterable where Self: RawRepresentable<String> {
    /// The words of all cases, for a message: `jpeg, png`.
    package static var allWords: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension String {
    /// The text with the special characters of HTML and Pango markup escaped.
    package var escapedForMarkup: String { unicodeScalars.map { Self.markup[$0] ?? String($0) }.joined() }

    private static let markup: [Unicode.Scalar: String] = [
        "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
    ]
}

extension UInt8 {
    package var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    package var isASCIILetter: Bool { (0x61...0x7A).contains(self | 0x20) }

    /// Whether it is white space to JSON, XML and HTTP: a space, a tab, or the end of a line.
    package var isASCIISpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

extension Unicode.Scalar {
    /// Whether the scalar is text and nothing else: no control or format character, no line separator.
    package var isText: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }
}
