package import CameoModel

/// The beginning of a response whose transfer broke off. A later request for the rest may complete it (RFC 9110, section 14;
/// RFC 9111, section 3.3).
///
/// DESIGN: the rest is believed only if the server says, by a strong validator, that it belongs to the same representation,
/// and if it is exactly the missing part of the same whole. Anything else costs a download from the beginning.
package struct PartialResponse: Codable, Hashable, Sendable {
    /// Fewer bytes than these are not worth keeping.
    package static let leastBytes = 65_536

    /// The URL that the bytes came from, at the end of any redirects.
    package let url: String
    /// The head of the response with status 200, as it is stored (``CacheableResponse/kept``).
    package let head: CacheableResponse
    /// The size of the whole body.
    package let total: Int
    /// The number of bytes that arrived.
    package let count: Int
    /// Their SHA-256 in hexadecimal digits.
    package let sha256: String
    /// The servers that sent them.
    package let peers: [Peer]
}

extension PartialResponse {
    /// Nil if the rest cannot be requested, or if too little has arrived. `head` is as it arrived; `count`, `digest` and
    /// `peers` are of the bytes.
    package init?(_ head: CacheableResponse, from url: String, count: Int, digest: BlobDigest, peers: [Peer]) {
        guard head.status == 200, head.rangeValidator != nil, head.isUnencoded,
            head.fields["Accept-Ranges"]?.asciiLowercased != "none",
            let total = head.contentLength, count >= Self.leastBytes, count < total
        else { return nil }
        self.init(url: url, head: head.kept, total: total, count: count, sha256: digest.hex, peers: peers)
    }

    /// The response of which parts are requested, without any byte so far; nil if the server does not offer parts.
    package init?(offering head: CacheableResponse, from url: String, peers: [Peer]) {
        guard head.mayBePartialVideo, let total = head.contentLength else { return nil }
        self.init(url: url, head: head.kept, total: total, count: 0, sha256: "", peers: peers)
    }

    /// The same response after more of it has arrived, but not all.
    package func grown(to count: Int, digest: BlobDigest, from peers: [Peer]) -> PartialResponse {
        let known = Set(self.peers)
        let all = self.peers + peers.filter { !known.contains($0) }
        return PartialResponse(url: url, head: head, total: total, count: count, sha256: digest.hex, peers: all)
    }

    /// The fields that request the rest (RFC 9110, sections 13.1.5 and 14.2). A content coding would make it a part of
    /// something else.
    package var conditions: HTTPFields { conditions(range: "\(count)-") }

    /// The fields that request some bytes.
    package func conditions(for bytes: Range<Int>) -> HTTPFields {
        conditions(range: "\(bytes.lowerBound)-\(bytes.upperBound - 1)")
    }

    private func conditions(range: String) -> HTTPFields {
        var fields = HTTPFields()
        fields.append("Range", "bytes=\(range)")
        fields.set("If-Range", head.rangeValidator)
        fields.append("Accept-Encoding", "identity")
        return fields
    }

    /// What tells the whole from any other version of it.
    package var version: String { "\(total) \(head.rangeValidator ?? "")" }

    /// The head of the whole, after its rest has arrived (RFC 9111, section 3.4).
    package func head(completedBy rest: CacheableResponse) -> CacheableResponse {
        CachePolicy(audience: .shared).freshened(head, by: rest)
    }

    /// Whether a response is the rest of this one.
    package func isCompleted(by response: CacheableResponse) -> Bool { has(count..<total, in: response) }

    /// Whether a response consists of these bytes of the whole.
    package func has(_ bytes: Range<Int>, in response: CacheableResponse) -> Bool {
        guard response.status == 206, response.isUnencoded, let range = response.contentRange,
            range == (bytes.lowerBound, bytes.upperBound - 1, total),
            response.fields["Content-Length"] == nil || response.contentLength == bytes.count
        else { return false }
        // A server must repeat an entity tag (section 15.3.7), but not a date.
        if head.rangeValidator?.hasPrefix("\"") == true { return response.rangeValidator == head.rangeValidator }
        return response.fields["Last-Modified"] == nil
            || response.fields["Last-Modified"] == head.fields["Last-Modified"]
    }
}

extension CacheableResponse {
    /// The validator for `If-Range`: a strong entity tag or, without any tag, a strong date (RFC 9110, sections 8.8.2.2 and
    /// 13.1.5). A date is strong if the response is a minute younger, so that it cannot have changed twice in its second.
    var rangeValidator: String? {
        if fields["ETag"] != nil { return entityTag.flatMap { $0.isWeak ? nil : $0.text } }
        guard fields["Date"] != nil, let lastModified, date.duration(since: lastModified) >= .seconds(60) else {
            return nil
        }
        return fields["Last-Modified"]
    }

    /// Whether the server says that it sends parts of the body, which can be told from those of any other, and does not say
    /// that it is a picture.
    package var mayBePartialVideo: Bool {
        status == 200 && rangeValidator != nil && isUnencoded && contentLength != nil
            && fields["Accept-Ranges"]?.asciiLowercased == "bytes" && mediaType?.hasPrefix("image/") != true
    }

    /// Whether the body has no content coding.
    var isUnencoded: Bool { (fields["Content-Encoding"]?.asciiLowercased ?? "identity") == "identity" }

    /// Whether the body has a content coding that HTTP clients do not know. Stores of objects name character sets and their
    /// own framing there; browsers pass such a body on as it is.
    package var hasUnknownCoding: Bool {
        let codings = (fields["Content-Encoding"] ?? "").utf8.split(separator: UInt8(ascii: ","))
        let known: Set = ["identity", "gzip", "x-gzip", "deflate", "br", "zstd"]
        return codings.contains { !known.contains(String(decoding: $0.trimmed, as: UTF8.self).asciiLowercased) }
    }

    /// The response as a 200 (RFC 9110, section 15.3): a 203 is one that a proxy has transformed, and a 206 that nobody asked
    /// for may hold the whole. Nil for a response that is not a whole representation.
    package var whole: CacheableResponse? {
        switch status {
        case 200: return self
        case 203: break
        case 206:
            guard isUnencoded, let range = contentRange, range.first == 0, range.last == range.total - 1,
                contentLength == range.total
            else { return nil }
        default: return nil
        }
        var fields = fields
        fields.set("Content-Range", nil)
        return CacheableResponse(status: 200, fields: fields, requestTime: requestTime, responseTime: responseTime)
    }

    /// The length of the body; nil unless one line states it.
    package var contentLength: Int? {
        let lines = fields.values(of: "Content-Length")
        return lines.count == 1 ? Self.number(lines[0]) : nil
    }

    /// The `Content-Range` of one part with a known total (RFC 9110, section 14.4).
    var contentRange: (first: Int, last: Int, total: Int)? {
        let lines = fields.values(of: "Content-Range")
        guard lines.count == 1, lines[0].asciiLowercased.hasPrefix("bytes ") else { return nil }
        let parts = lines[0].dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        let ends = parts.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard parts.count == 2, ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            let total = Self.number(parts[1])
        else { return nil }
        return (first, last, total)
    }

    /// Digits alone, no more than fit.
    private static func number(_ text: some StringProtocol) -> Int? {
        (1...18).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}
