internal import CameoHTTPCache
internal import Foundation

/// Bytes that are served whole, in part or not at all, depending on the conditions of the request (RFC 9110).
struct Representation: Sendable {
    let url: URL
    /// With the names `ETag` and `Last-Modified` in this case.
    var headers: [String: String]
    let data: Data

    /// The response to GET or HEAD: what the request's preconditions decide, 206 or 416 for one `Range`, or 200.
    func answer(to request: URLRequest) throws(CameoURLError) -> Answer {
        let isHEAD = request.httpMethod == "HEAD"
        let conditions = RequestConditions(request)
        let (tag, modified) = (headers["ETag"], headers["Last-Modified"])
        if let verdict = conditions.verdict(entityTag: tag, lastModified: modified) {
            return try Answer(url, verdict, headers)
        }
        let part = conditions.part(of: data.count, entityTag: tag, lastModified: modified, isGET: !isHEAD)
        var headers = headers
        headers["Content-Length"] = "\(data.count)"
        headers["Accept-Ranges"] = "bytes"
        switch part {
        case .whole:
            return isHEAD ? try Answer(url, 200, headers) : try Answer(url, 200, headers, data)
        case .unsatisfiable:
            return try Answer(url, 416, ["Content-Range": "bytes */\(data.count)", "Content-Length": "0"])
        case .range(let range):
            headers["Content-Length"] = "\(range.count)"
            headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(data.count)"
            return try Answer(url, 206, headers, data.subdata(in: range))
        }
    }
}

extension Answer {
    /// The fields of a 200 that a 304 repeats (section 15.4.5), and those that a cache adds.
    private static let ofNotModified: Set = [
        "age", "cache-control", "cache-status", "content-location", "date", "etag", "expires", "vary",
    ]

    /// The response of 304 or 412 in place of a 200 with these fields.
    init(_ url: URL, _ verdict: RequestConditions.Verdict, _ headers: [String: String]) throws(CameoURLError) {
        switch verdict {
        case .notModified:
            try self.init(url, 304, headers.filter { Self.ofNotModified.contains($0.key.lowercased()) })
        case .preconditionFailed: try self.init(url, 412, ["Content-Length": "0"])
        }
    }
}

extension RequestConditions {
    init(_ request: URLRequest) {
        self.init { name in request.value(forHTTPHeaderField: name) }
    }
}
