package import CameoModel
package import Foundation

/// A response as a cache judges it: without its body.
package struct CacheableResponse: Hashable, Codable, Sendable {
    package let status: Int
    package let fields: HTTPFields
    /// When the request was sent.
    package let requestTime: Date
    /// When the head of the response arrived.
    package let responseTime: Date

    package init(status: Int, fields: HTTPFields = HTTPFields(), requestTime: Date, responseTime: Date) {
        (self.status, self.fields, self.requestTime, self.responseTime) = (status, fields, requestTime, responseTime)
    }
}

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

    /// Whether the status allows storing without explicit permission (RFC 9110, section 15.1). 206 does too, but parts are
    /// never stored here.
    var isHeuristicallyCacheable: Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Whether this cache implements what the status requires of caches (`must-understand`): those of RFC 9110 require
    /// nothing special.
    var isUnderstood: Bool {
        switch status {
        case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: true
        default: false
        }
    }

    /// Whether the response is a picture or a redirect to one. An operator's default lifetime applies to these alone: an
    /// error without caching information should not last for a day.
    var isSuccessOrRedirect: Bool { [200, 203, 204, 300, 301, 302, 303, 307, 308].contains(status) }

    /// Whether stored responses are dropped after this one, although it is not stored itself. RFC 9111 leaves that to the
    /// cache (section 4.3.3).
    ///
    /// They are dropped if the origin sent another representation, or said that the picture is gone or no longer for this
    /// requester; otherwise it would come back when the server is unreachable. Any other status concerns the request,
    /// the moment or the connection (400, 407, 408, 425, 429, 5xx). A 206 is a part of the stored whole.
    var supersedesStored: Bool {
        switch status {
        case 206: false
        case 200...299, 401, 402, 403, 404, 410, 451: true
        default: false
        }
    }

    /// When the origin generated the response; without a `Date`, when it arrived (RFC 9110, section 6.6.1).
    var date: Date { time(in: fields.values(of: "Date")) ?? responseTime }

    package var lastModified: Date? { time(in: fields.values(of: "Last-Modified")) }

    /// The time from `Date` to `Expires` (section 5.3). The earliest of several lines counts; a value that is no time, such
    /// as `Expires: 0`, means zero. Nil without the field.
    var expiresAfter: Duration? {
        let lines = fields.values(of: "Expires")
        guard !lines.isEmpty else { return nil }
        let times = lines.compactMap { time(in: [$0]) }
        guard let first = times.min(), times.count == lines.count else { return .zero }
        return max(first.duration(since: date), .zero)
    }

    package static let mostRetryAfter = Duration.seconds(100_000_000)

    /// How long to wait before the next request (RFC 9110, section 10.2.3), at most three years. Nil without a readable
    /// `Retry-After`. A date is taken relative to the response's own `Date`, so that a server with a wrong clock still
    /// tells how long.
    package var retryAfter: Duration? {
        guard let text = fields.values(of: "Retry-After").first else { return nil }
        if let seconds = Int(deltaSeconds: text) { return min(.seconds(seconds), Self.mostRetryAfter) }
        return time(in: [text]).map { min(max($0.duration(since: date), .zero), Self.mostRetryAfter) }
    }

    /// `corrected_initial_age` (section 4.2.3): how old the response was when it arrived.
    var initialAge: Duration {
        let apparentAge = max(responseTime.duration(since: date), .zero)
        let delay = max(responseTime.duration(since: requestTime), .zero)
        return max(apparentAge, age + delay)
    }

    /// The first member of `Age`, or zero if it is not a number (section 5.1).
    private var age: Duration {
        let first = fields["Age"]?.utf8.prefix { $0 != UInt8(ascii: ",") }
        let text = first.map { String(decoding: $0.trimmed, as: UTF8.self) }
        return .seconds(text.flatMap { Int(deltaSeconds: $0) } ?? 0)
    }

    /// Returns nil for several lines: a field that holds one time must have one line.
    private func time(in lines: [String]) -> Date? {
        lines.count == 1 ? HTTPDate.parse(lines[0], now: responseTime) : nil
    }

    /// `If-None-Match` and `If-Modified-Since` for a request that validates this response; empty if it has no validators
    /// (section 4.3.1).
    package var validators: HTTPFields {
        var request = HTTPFields()
        request.set("If-None-Match", entityTag?.text)
        if lastModified != nil { request.set("If-Modified-Since", fields["Last-Modified"]) }
        return request
    }

    /// Whether a 304 to a request with this response's ``validators`` alone refers to this response (section 4.3.4): a
    /// strong entity tag must be equal; a weak one, or `Last-Modified`, must correspond.
    ///
    /// A 304 without validators is accepted. The section would require that the stored response has none either, but some
    /// servers (such as Python's `http.server`) never repeat them, and the request named only one response.
    package func isNamed(by notModified: CacheableResponse) -> Bool {
        if let tag = notModified.entityTag {
            if !tag.isWeak { return entityTag == tag }
            if let entityTag { return entityTag.opaque == tag.opaque }
            return notModified.lastModified != nil && lastModified == notModified.lastModified
        }
        return notModified.lastModified == nil || lastModified == notModified.lastModified
    }

    var entityTag: EntityTag? { fields["ETag"].flatMap(EntityTag.init(parsing:)) }
}

/// An `ETag` (RFC 9110, section 8.8.3).
struct EntityTag: Equatable {
    let isWeak: Bool
    /// The bytes between the quotes. They are no `String`, which would equate canonically equivalent spellings.
    let opaque: [UInt8]

    /// - Parameter text: a field value. The result is nil unless it is exactly one entity tag: a bare `*`, sent back, would
    ///   match every representation.
    init?(parsing text: String) {
        let bytes = Array(text.utf8)
        isWeak = bytes.starts(with: Array("W/".utf8))
        let quoted = bytes.dropFirst(isWeak ? 2 : 0)
        let quote = UInt8(ascii: "\"")
        guard quoted.count >= 2, quoted.first == quote, quoted.last == quote else { return nil }
        opaque = Array(quoted.dropFirst().dropLast())
        guard opaque.allSatisfy({ $0 > 0x20 && $0 != quote && $0 != 0x7F }) else { return nil }
    }

    var text: String { "\(isWeak ? "W/" : "")\"\(String(decoding: opaque, as: UTF8.self))\"" }
}

/// Which requests a response may answer (section 4.1): those with the same values of the fields that `Vary` names (RFC 9110,
/// section 12.5.5).
package struct Variant: Hashable, Sendable {
    /// The names go into a database column, and no honest response has more.
    private static let mostNames = 64

    /// The canonical form, for a database column: the field names of `Vary`, a colon, and a digest of the request's values.
    /// Empty for a response that does not vary.
    package let text: String
    /// Unique names in lower case, sorted; none for a response that does not vary.
    private let names: [String]

    /// The variant of a chain of redirects, which varies on every field that one of its responses varies on. Nil if no
    /// request can be said to match: `Vary: *`. `answers` are the responses' fields.
    package init?(of answers: [HTTPFields], for request: HTTPFields) {
        guard let names = Self.names(in: answers) else { return nil }
        self.names = names
        text = names.isEmpty ? "" : Self.text(of: names, for: request)
    }

    /// Returns nil for text that ``text`` never is.
    package init?(text: String) {
        self.text = text
        guard !text.isEmpty else {
            names = []
            return
        }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        names = text.utf8[..<colon].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard names.allSatisfy(MediaType.isToken) else { return nil }
    }

    /// Whether the response may answer another request for the same URI.
    package func matches(_ request: HTTPFields) -> Bool {
        names.isEmpty || text == Self.text(of: names, for: request)
    }

    /// The fields on which any of several responses varies. Nil for `*`, for text that is not a field name, and for too many
    /// names: no request can be said to match then, and a miss is always correct.
    static func names(in answers: [HTTPFields]) -> [String]? {
        let members = answers.flatMap { $0.values(of: "Vary") }.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
        let names = Set(members.map { String(decoding: $0.trimmed, as: UTF8.self).asciiLowercased }).subtracting([""])
        guard names.count <= mostNames, names.allSatisfy({ $0 != "*" && MediaType.isToken($0) }) else { return nil }
        return names.sorted()
    }

    /// Two requests match if their texts are equal (section 4.1): lines of the same name are joined; white space around
    /// commas and empty members are ignored. An absent field differs from an empty one. A value with a quoted string is left
    /// as it is, since white space inside quotes is significant.
    private static func text(of names: [String], for request: HTTPFields) -> String {
        let values = names.map { name in
            guard let value = request[name] else { return name }
            guard !value.utf8.contains(UInt8(ascii: "\"")) else { return "\(name):\(value)" }
            let members = value.utf8.split(separator: UInt8(ascii: ",")).map(\.trimmed).filter { !$0.isEmpty }
            return "\(name):\(members.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ","))"
        }
        // The values may be secret, and stay out of the store.
        let digest = BlobDigest(of: Data(values.joined(separator: "\n").utf8))
        return "\(names.joined(separator: ",")):\(digest.hex)"
    }
}

/// A stored response: status 200, and the redirects that led to it. Its body is a blob.
package struct CachedSource: Hashable, Sendable {
    package let key: SourceKey
    /// Which requests for the key it answers: the text of a ``Variant``.
    package let variant: String
    package let finalURL: String
    /// The stored part of the head (``CacheableResponse/kept``). The redirects are stored likewise.
    package var head: CacheableResponse
    package var redirects: [CacheableResponse]
    package let mediaType: String?
    package let textEncoding: String?
    /// When its freshness ends, as judged when it was stored.
    package var freshUntil: Date
    package let blob: BlobDigest
    /// The size of the body.
    package let bytes: Int
    /// The number of the fetch or revalidation that produced it (invariant I4).
    package var sourceSeen: Int64
    /// The servers that sent the bytes; a later 304 leaves them unchanged. Empty for bytes that a program handed over.
    package let peers: [Peer]
    /// Whether a program handed the bytes over: there is no server to ask, and they are never stale and never evicted.
    package let isPinned: Bool

    package init(
        key: SourceKey,
        variant: String = "",
        finalURL: String,
        head: CacheableResponse,
        redirects: [CacheableResponse] = [],
        mediaType: String? = nil,
        textEncoding: String? = nil,
        freshUntil: Date,
        blob: BlobDigest,
        bytes: Int,
        sourceSeen: Int64,
        peers: [Peer],
        isPinned: Bool = false
    ) {
        (self.key, self.variant, self.finalURL, self.head, self.redirects) = (key, variant, finalURL, head, redirects)
        (self.mediaType, self.textEncoding, self.freshUntil, self.blob) = (mediaType, textEncoding, freshUntil, blob)
        (self.bytes, self.sourceSeen, self.peers, self.isPinned) = (bytes, sourceSeen, peers, isPinned)
    }

    /// The redirects and the response itself. The whole allows no more than each of these.
    package var chain: [CacheableResponse] { redirects + [head] }
}
