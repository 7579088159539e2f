internal import CameoHTTPCache
internal import Foundation

extension Answer {
    /// A whole answer, kept or just loaded, as the requester wants it.
    init(
        _ asked: CacheRequest,
        url: String,
        _ head: CacheableResponse,
        _ data: Data,
        _ status: CacheStatus
    ) throws {
        let headers = Self.headers(head, status, bytes: data.count)
        let url = URL(string: url) ?? asked.url
        guard head.status == 200 else {
            self = try Answer(url, head.status, headers, data)
            return
        }
        self = try Representation(url: url, headers: headers, data: data).answer(to: asked.request)
    }

    /// What a server said to a request that was handed on as it is.
    init(_ visit: HTTPVisit, _ status: CacheStatus) throws {
        let (head, body) = (visit.last.head, visit.last.body)
        let headers = Self.headers(head, status, bytes: body.isEmpty ? nil : body.count)
        try self.init(visit.last.url, head.status, headers, body)
    }

    /// RFC 9111, section 5.2.1.7.
    init(onlyIfCached url: URL) throws {
        let status = CacheStatus.refused(detail: "nothing fresh is kept")
        try self.init(url, 504, ["Cache-Status": status.text, "Content-Length": "0"])
    }

    /// `bytes` are those of the body; nil leaves the length as the server announced it (HEAD).
    private static func headers(_ head: CacheableResponse, _ status: CacheStatus, bytes: Int?) -> [String: String] {
        var fields = head.fields.storable
        // The body is decoded by now, and its length another.
        if let bytes {
            fields.set("Content-Encoding", nil)
            fields.set("Content-Length", "\(bytes)")
        }
        // A member for each cache on the way, the nearest last (RFC 9211, section 2).
        fields.append("Cache-Status", status.text)
        var headers: [String: String] = [:]
        for line in fields.lines {
            let name = canonical[line.name.lowercased()] ?? line.name
            headers[name] = headers[name].map { "\($0), \(line.value)" } ?? line.value
        }
        return headers
    }

    /// The names that ``Representation`` looks for.
    private static let canonical = [
        "etag": "ETag", "last-modified": "Last-Modified", "content-length": "Content-Length",
    ]
}
