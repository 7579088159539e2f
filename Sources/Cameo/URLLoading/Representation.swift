internal import Foundation

/// Bytes that are served whole, in part or not at all, depending on the conditions of the request (RFC 9110).
struct Representation: Sendable {
    let url: URL
    var headers: [String: String]
    let data: Data

    /// The fields of a 200 that a 304 repeats (section 15.4.5), and those that a cache adds.
    private static let ofNotModified: Set = [
        "age", "cache-control", "cache-status", "content-location", "date", "etag", "expires", "vary",
    ]

    /// The response to GET or HEAD: 304 for `If-None-Match` or `If-Modified-Since`, 206 or 416 for one `Range`, or 200.
    func answer(to request: URLRequest) throws(CameoURLError) -> Answer {
        guard !Self.isNotModified(request, headers) else {
            return try Answer(url, 304, headers.filter { Self.ofNotModified.contains($0.key.lowercased()) })
        }
        var headers = headers
        headers["Content-Length"] = "\(data.count)"
        headers["Accept-Ranges"] = "bytes"
        guard request.httpMethod != "HEAD" else { return try Answer(url, 200, headers) }
        // Section 13.1.5: a part is useful only together with other parts of the same bytes.
        guard isConditionMet(request.value(forHTTPHeaderField: "If-Range")),
            let field = request.value(forHTTPHeaderField: "Range"), let range = ByteRange(field, length: data.count)
        else { return try Answer(url, 200, headers, data) }
        switch range {
        case .unsatisfiable:
            return try Answer(url, 416, ["Content-Range": "bytes */\(data.count)", "Content-Length": "0"])
        case .satisfiable(let range):
            headers["Content-Length"] = "\(range.count)"
            headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(data.count)"
            return try Answer(url, 206, headers, data.subdata(in: range))
        }
    }

    /// Whether the requester already has these bytes (sections 13.1.2, 13.1.3). Entity tags take precedence over dates.
    ///
    /// `headers` must spell `ETag` and `Last-Modified` in exactly this way.
    static func isNotModified(_ request: URLRequest, _ headers: [String: String]) -> Bool {
        if let field = request.value(forHTTPHeaderField: "If-None-Match") {
            // A tag that contains a comma is not recognized; its bytes are sent again.
            let tags = field.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            let own = headers["ETag"].map(Self.opaque)
            return tags.contains("*") || tags.contains { own != nil && Self.opaque($0) == own }
        }
        guard let since = request.value(forHTTPHeaderField: "If-Modified-Since") else { return false }
        // Dates are compared as text, which works for clients that send back the date they received.
        return since == headers["Last-Modified"]
    }

    /// The part of a tag that weak comparison uses (section 8.8.3.2).
    private static func opaque(_ tag: String) -> String { tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag }

    private func isConditionMet(_ condition: String?) -> Bool {
        guard let condition else { return true }
        guard condition.hasPrefix("\"") else { return condition == headers["Last-Modified"] }
        return condition == headers["ETag"]
    }
}
