internal import CameoHTTPCache
internal import CameoStore
public import Foundation

/// A request and a function that turns its response into a value of the program's own type.
public struct Resource<Value: Sendable>: Sendable {
    /// The request, unchanged.
    public let request: URLRequest
    fileprivate let parse: @Sendable (Data, URLResponse) throws -> Value

    /// - Parameters:
    ///   - request: a request of any scheme that the session supports.
    ///   - parse: makes the value. It is called for every response, whatever its status.
    public init(_ request: URLRequest, parse: @escaping @Sendable (Data, URLResponse) throws -> Value) {
        self.request = request
        self.parse = parse
    }

    /// A resource whose value depends on its bytes alone.
    public init(_ uri: CameoURI, parse: @escaping @Sendable (Data) throws -> Value) {
        self.init(URLRequest(url: uri.url)) { data, _ in try parse(data) }
    }
}

extension URLSession {
    /// Loads and parses a resource. Cancelling the task cancels the transfer.
    ///
    /// - Throws: the error of the transfer or of `parse`; for `cameo:` URLs a ``CameoURLError``.
    public func load<Value>(_ resource: Resource<Value>) async throws -> Value {
        let (data, response) = try await data(for: resource.request)
        try Task.checkCancellation()
        return try resource.parse(data, response)
    }
}

extension Client {
    /// Loads and parses a resource of this store without a session.
    ///
    /// - Throws: the error of `parse`, ``CameoURLError``, or `CancellationError`.
    public func load<Value>(_ resource: Resource<Value>) async throws -> Value {
        let answer = try await answer(to: resource.request)
        return try resource.parse(answer.body, answer.response)
    }
}

/// The complete response to a session's request.
struct Answer: Sendable {
    let response: HTTPURLResponse
    let body: Data

    init(_ url: URL, _ status: Int, _ headers: [String: String], _ body: Data = Data()) throws(CameoURLError) {
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        guard let response else {
            throw .unsupportedURL(url.absoluteString, reason: "Foundation makes no response for it")
        }
        self.response = response
        self.body = body
    }
}

extension Client {
    /// Responds to a request for a `cameo:` URL like an HTTP server (RFC 9110): GET and HEAD, `If-None-Match`,
    /// `If-Match`, one `Range` with `If-Range`.
    ///
    /// - Throws: ``CameoURLError``; `URLError.timedOut` if a wait is longer than the request's `timeoutInterval`;
    ///   `CancellationError` if the task is cancelled.
    func answer(to request: URLRequest) async throws -> Answer {
        guard let url = request.url else { throw CameoURLError.unsupportedURL("", reason: "it is empty") }
        let address = try CameoAddress(url)
        let method = request.httpMethod ?? "GET"
        guard method == "GET" || method == "HEAD" else {
            return try Answer(url, 405, ["Allow": "GET, HEAD", "Content-Length": "0"])
        }
        let timeout = request.timeoutInterval > 0 ? request.timeoutInterval : .infinity
        do {
            let content = try await store.content(
                of: address.uri,
                within: .seconds(min(address.wait, timeout)),
                by: changes
            )
            var headers = ["ETag": content.entityTag, "Cache-Control": content.cacheControl]
            // Before the bytes are read: who has them costs a look at one row.
            if let verdict = RequestConditions(request).verdict(entityTag: content.entityTag, lastModified: nil) {
                return try Answer(url, verdict, headers)
            }
            let (data, isFromMemory) = try await bytes(of: content, at: url.absoluteString)
            try Task.checkCancellation()
            if isFromMemory { headers["Cache-Status"] = CacheStatus.hit(ttl: nil, detail: CacheStatus.memory).text }
            headers["Content-Type"] = content.contentType(of: data)
            return try Answer(url, headers, data, to: request)
        } catch StoreError.notFound where timeout < address.wait {
            throw URLError(.timedOut)
        } catch let error as StoreError {
            throw CameoURLError(error, url: url.absoluteString)
        }
    }
}

extension Answer {
    /// The response to GET or HEAD of these bytes (RFC 9110): what the request's preconditions decide, 206 or 416 for one
    /// `Range`, or 200. The headers have the names `ETag` and `Last-Modified` in this case.
    init(_ url: URL, _ headers: [String: String], _ data: Data, to request: URLRequest) throws(CameoURLError) {
        let isHEAD = request.httpMethod == "HEAD"
        let conditions = RequestConditions(request)
        let (tag, modified) = (headers["ETag"], headers["Last-Modified"])
        if let verdict = conditions.verdict(entityTag: tag, lastModified: modified) {
            try self.init(url, verdict, headers)
            return
        }
        var headers = headers
        headers["Content-Length"] = "\(data.count)"
        headers["Accept-Ranges"] = "bytes"
        switch conditions.part(of: data.count, entityTag: tag, lastModified: modified, isGET: !isHEAD) {
        case .whole: try self.init(url, 200, headers, isHEAD ? Data() : data)
        case .unsatisfiable:
            try self.init(url, 416, ["Content-Range": "bytes */\(data.count)", "Content-Length": "0"])
        case .range(let range):
            headers["Content-Length"] = "\(range.count)"
            headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(data.count)"
            try self.init(url, 206, headers, data.subdata(in: range))
        }
    }

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
