/// Header fields in the order of arrival. Names are case-insensitive.
package struct HTTPFields: Hashable, Sendable, Codable {
    package struct Line: Hashable, Sendable, Codable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package private(set) var lines: [Line]

    package init(_ lines: [Line] = []) { self.lines = lines }

    /// All lines of the name, joined by ", " (RFC 9110, section 5.3); nil if there are none.
    package subscript(name: String) -> String? {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The values of the name in their order, without surrounding white space.
    package func values(of name: String) -> [String] {
        lines.filter { $0.name.isSameToken(as: name) }.map { $0.value.trimmed }
    }

    /// Replaces all lines of the name by one, in the place of the first or else at the end; nil removes them.
    package mutating func set(_ name: String, _ value: String?) {
        let place = lines.firstIndex { $0.name.isSameToken(as: name) } ?? lines.endIndex
        lines.removeAll { $0.name.isSameToken(as: name) }
        if let value { lines.insert(Line(name: name, value: value), at: place) }
    }

    package mutating func append(_ name: String, _ value: String) {
        lines.append(Line(name: name, value: value))
    }

    /// Decodes the array of the lines.
    package init(from decoder: any Decoder) throws { self.init(try [Line](from: decoder)) }

    package func encode(to encoder: any Encoder) throws { try lines.encode(to: encoder) }

    /// The fields that may be sent to a server that the requester did not name (RFC 9110, section 15.4).
    package var withoutCredentials: HTTPFields { HTTPFields(lines.filter(\.isHarmless)) }

    /// Whether any field may be a credential: `Authorization` is not the only one.
    package var mayHaveCredentials: Bool { !lines.allSatisfy(\.isHarmless) }
}

extension HTTPFields.Line {
    /// Fields that state the requester's preferences and never prove an identity. All others may be credentials, unknown
    /// ones included.
    private static let harmless: Set = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "dnt", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "pragma", "priority", "range",
        "referer", "sec-gpc", "upgrade-insecure-requests", "user-agent",
    ]

    package var isHarmless: Bool { Self.harmless.contains(name.asciiLowercased) }
}

extension HTTPFields {
    /// Whether the request accepts only a stored response, or else a 504 (section 5.2.1.7).
    package var isOnlyIfCached: Bool { CacheDirectives(of: self).contains(.onlyIfCached) }

    /// Fields for one connection or for a proxy (section 3.1; RFC 9110, section 7.6.1).
    private static let neverStored: Set = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    /// The fields of a response that may be stored: all but those for a proxy or for the connection, to which `Connection`
    /// may add more (section 3.1).
    package var storable: HTTPFields {
        let connection = values(of: "Connection").flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
        let options = connection.map { String(decoding: $0.trimmed, as: UTF8.self).asciiLowercased }
        let excluded = Self.neverStored.union(options)
        return HTTPFields(lines.filter { !excluded.contains($0.name.asciiLowercased) })
    }

    /// The fields of a response whose body has been decoded: without those that described the encoded body, and with the
    /// length of the decoded one, unless that is nil.
    package func decoded(bytes: Int?) -> HTTPFields {
        var fields = self
        fields.set("Content-Encoding", nil)
        fields.set("Content-Length", bytes.map { "\($0)" })
        return fields
    }
}

extension CacheableResponse {
    /// The response as it is stored: without fields for the connection, without cookies, which are for one client, and
    /// without fields that describe the encoded body.
    package var kept: CacheableResponse {
        var fields = fields.storable.decoded(bytes: nil)
        fields.set("Set-Cookie", nil)
        return CacheableResponse(status: status, fields: fields, requestTime: requestTime, responseTime: responseTime)
    }

    /// The fields as they are passed to the requester together with the decoded body. A response to HEAD and a 304 describe
    /// a body that they do not have (RFC 9110, section 8.6), and stay as they are.
    package func handedOn(bytes: Int, to method: String) -> HTTPFields {
        let describesAnother = method == "HEAD" || status == 204 || status == 304
        return describesAnother ? fields.storable : fields.storable.decoded(bytes: bytes)
    }
}

/// HTTP compares and splits bytes. Swift's characters would hide a comma behind a combining mark, and `lowercased()` turns
/// the Kelvin sign into a k.
extension StringProtocol {
    /// The text with A to Z, and nothing else, in lower case.
    var asciiLowercased: String { String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self) }

    /// Whether the two are equal, ignoring the case of A to Z.
    func isSameToken(as other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// The text without surrounding optional white space (RFC 9110, section 5.6.3).
    var trimmed: String { String(decoding: Substring(self).utf8.trimmed, as: UTF8.self) }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without surrounding optional white space (RFC 9110, section 5.6.3).
    var trimmed: SubSequence {
        let start = drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return start[start.endIndex...] }
        return start[...last]
    }
}

extension UInt8 {
    var asciiLowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }

    var isWhitespace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// The value of a decimal digit, nil for any other byte.
    var digit: Int? { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) ? Int(self) - 0x30 : nil }
}
