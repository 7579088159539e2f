/// Reads `Content-Type` (RFC 9110, section 8.3). The text comes from a stranger and is shown to people, so a malformed part
/// counts as absent.
extension CacheableResponse {
    /// The media type in lower case, without parameters.
    package var mediaType: String? {
        guard let header = contentType else { return nil }
        let bytes = header.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { !$0.isWhitespace }
        let isType = bytes.allSatisfy { (0x21...0x7E).contains($0) } && bytes.contains(UInt8(ascii: "/"))
        guard isType, bytes.count <= 127 else { return nil }
        return String(decoding: bytes, as: UTF8.self).asciiLowercased
    }

    /// The parameter `charset` in lower case.
    package var textEncoding: String? {
        for parameter in (contentType ?? "").split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].trimmed.isSameToken(as: "charset") else { continue }
            let name = parts[1].trimmed.drop { $0 == "\"" }.prefix { $0 != "\"" }
            let isToken = name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            return isToken && (1...40).contains(name.utf8.count) ? name.asciiLowercased : nil
        }
        return nil
    }

    /// The last line, if there are several.
    private var contentType: String? { fields.values(of: "Content-Type").last }
}
