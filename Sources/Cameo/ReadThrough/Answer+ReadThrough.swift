internal import CameoHTTPCache
internal import Foundation

extension Answer {
    /// The response to a request for a whole representation, by the request's conditions. The body is decoded.
    init(
        whole data: Data,
        _ fields: HTTPFields,
        at url: URL,
        to request: URLRequest,
        _ status: CacheStatus
    ) throws {
        let headers = Self.headers(fields.decoded(bytes: data.count), status)
        self = try Representation(url: url, headers: headers, data: data).answer(to: request)
    }

    /// A response that is passed on unchanged.
    init(_ url: URL, _ code: Int, _ fields: HTTPFields, _ body: Data, _ status: CacheStatus) throws {
        try self.init(url, code, Self.headers(fields, status), body)
    }

    private static func headers(_ fields: HTTPFields, _ status: CacheStatus) -> [String: String] {
        var fields = fields
        // Each cache on the way adds a member; the nearest is the last (RFC 9211, section 2).
        fields.append("Cache-Status", status.text)
        var headers: [String: String] = [:]
        for line in fields.lines {
            let name = canonical[line.name.lowercased()] ?? line.name
            headers[name] = headers[name].map { "\($0), \(line.value)" } ?? line.value
        }
        // swift-corelibs-foundation asks its own protocol alone to answer a challenge that it can read, and a load by any
        // other never ends (https://github.com/swiftlang/swift-corelibs-foundation/issues/5456). White space before a value is
        // no part of it, but hides the challenge.
        headers["WWW-Authenticate"] = headers["WWW-Authenticate"].map { " \($0)" }
        return headers
    }

    /// The spellings that ``Representation`` and this extension expect.
    private static let canonical = [
        "etag": "ETag", "last-modified": "Last-Modified", "content-length": "Content-Length",
        "www-authenticate": "WWW-Authenticate",
    ]
}
