/// The rules for HTTP headers that a request may set when its source is fetched.
package enum HeaderRules {
    /// Headers that change message framing or routing, or that make the response partial or conditional.
    private static let forbidden: Set<String> = [
        "connection", "content-length", "expect", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "keep-alive", "proxy-authorization", "proxy-connection", "range", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// - Parameters:
    ///   - headers: values by name, in any case.
    ///   - path: the prefix of the error's path.
    /// - Throws: the first header that is malformed or forbidden, without its value, which may be secret.
    package static func validate(_ headers: [String: String], at path: String) throws(InvalidRequest) {
        guard headers.count <= ThumbnailRequest.maximumHeaders else {
            let reason = "has \(headers.count) entries, more than \(ThumbnailRequest.maximumHeaders)"
            throw InvalidRequest(path: path, reason: reason)
        }
        var seen: Set<String> = []
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: "\(path).\(name)", reason: reason) }
            guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else { throw refuse("is not an HTTP header name") }
            guard !forbidden.contains(name.lowercased()) else { throw refuse("may not be set") }
            guard seen.insert(name.lowercased()).inserted else { throw refuse("appears twice") }
            guard value.utf8.count <= 8_192, value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
                throw refuse("has a value over 8192 bytes or with a control character")
            }
        }
    }

    /// Whether a header name may contain the byte (RFC 9110, section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
