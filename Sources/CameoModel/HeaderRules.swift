/// Which HTTP headers may be sent with the request for a source.
package enum HeaderRules {
    /// Headers that would change how the message is framed, where it goes, or whether the whole picture comes back.
    private static let forbidden: Set<String> = [
        "connection", "content-length", "expect", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "keep-alive", "proxy-authorization", "proxy-connection", "range", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// - Parameters:
    ///   - headers: values by name, in any case.
    ///   - path: what the reason begins with.
    /// - Throws: the first header that is none or may not be set, without its value, which may be a secret.
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
            guard seen.insert(name.lowercased()).inserted else { throw refuse("is there twice") }
            guard value.utf8.count <= 8_192, value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
                throw refuse("its value is over 8192 bytes or has a control character")
            }
        }
    }

    /// RFC 9110, section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
