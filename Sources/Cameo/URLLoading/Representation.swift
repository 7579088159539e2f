internal import CameoHTTPCache
internal import Foundation

/// Bytes that can be served whole, in part or not at all, as a request's conditions have it (RFC 9110).
struct Representation: Sendable {
    let url: URL
    /// With the names `ETag` and `Last-Modified` in this case.
    var headers: [String: String]
    let data: Data

    /// What a 304 says of what would have been said with 200 (section 15.4.5), and what a cache adds to it.
    private static let ofNotModified: Set = [
        "age", "cache-control", "cache-status", "content-location", "date", "etag", "expires", "vary",
    ]

    /// The answer to GET or HEAD: 304 by `If-None-Match` or `If-Modified-Since`, 206 or 416 for one `Range`, else 200.
    func answer(to request: URLRequest) throws(CameoURLError) -> Answer {
        let isHEAD = request.httpMethod == "HEAD"
        let part = RequestConditions(request).part(
            of: data.count,
            entityTag: headers["ETag"],
            lastModified: headers["Last-Modified"],
            isGET: !isHEAD
        )
        var headers = headers
        headers["Content-Length"] = "\(data.count)"
        headers["Accept-Ranges"] = "bytes"
        switch part {
        case .notModified:
            return try Answer(url, 304, self.headers.filter { Self.ofNotModified.contains($0.key.lowercased()) })
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

extension RequestConditions {
    init(_ request: URLRequest) {
        self.init { name in request.value(forHTTPHeaderField: name) }
    }
}
