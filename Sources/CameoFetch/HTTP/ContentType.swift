/// Parts of a `Content-Type` header (RFC 9110, section 8.3). It is a stranger's text, and is shown to people: what is
/// not of the right form counts as not there.
enum ContentType {
    /// Without parameters, in lower case.
    static func mediaType(of header: String) -> String? {
        let bytes = header.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != 0x20 && $0 != 0x09 }
        let isType = bytes.allSatisfy { (0x21...0x7E).contains($0) } && bytes.contains(UInt8(ascii: "/"))
        guard isType, bytes.count <= 127 else { return nil }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }

    /// The parameter `charset`, in lower case.
    static func charset(of header: String) -> String? {
        for parameter in header.split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, trimmed(parts[0]).lowercased() == "charset" else { continue }
            let name = trimmed(parts[1]).drop { $0 == "\"" }.prefix { $0 != "\"" }
            let isToken = name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            return isToken && (1...40).contains(name.utf8.count) ? name.lowercased() : nil
        }
        return nil
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { start[...$0] } ?? ""
    }
}
