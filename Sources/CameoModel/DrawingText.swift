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
