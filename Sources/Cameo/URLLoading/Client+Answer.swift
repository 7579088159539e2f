internal import CameoModel
internal import CameoStore
internal import Foundation
internal import FoundationNetworking

extension Client {
    /// Answers a request for a `cameo:` URL as an HTTP server would (RFC 9110): GET and HEAD, `If-None-Match`, one
    /// `Range` with `If-Range`.
    ///
    /// - Throws: ``CameoURLError``, or `CancellationError` when the task is cancelled.
    func answer(to request: URLRequest) async throws -> Answer {
        guard let url = request.url else { throw CameoURLError.unsupportedURL("", reason: "it is empty") }
        let address = try CameoAddress(url)
        let method = request.httpMethod ?? "GET"
        guard method == "GET" || method == "HEAD" else {
            return try Answer(url, 405, ["Allow": "GET, HEAD", "Content-Length": "0"])
        }
        do {
            let content = try await content(of: address.uri, waiting: address.wait)
            let validators = ["ETag": content.entityTag, "Cache-Control": content.cacheControl]
            if let field = request.value(forHTTPHeaderField: "If-None-Match"), Self.matches(content, field) {
                return try Answer(url, 304, validators)
            }
            let data = try await store.data(of: content.digest)
            try Task.checkCancellation()
            let type = PictureFormat(sniffing: data)?.mediaType ?? content.mediaType ?? MediaType.unknown
            let headers = validators.merging(["Content-Type": type, "Accept-Ranges": "bytes"]) { first, _ in first }
            let answer = try Self.answer(request, url, data, headers, tag: content.entityTag)
            return method == "HEAD" ? Answer(response: answer.response, body: Data()) : answer
        } catch let error as StoreError {
            throw CameoURLError(error, url: url.absoluteString)
        }
    }

    private static func answer(
        _ request: URLRequest,
        _ url: URL,
        _ data: Data,
        _ headers: [String: String],
        tag: String
    ) throws(CameoURLError) -> Answer {
        var headers = headers
        headers["Content-Length"] = "\(data.count)"
        let condition = request.value(forHTTPHeaderField: "If-Range")
        // Section 14.2: a range is for GET only, and section 13.1.5: for the same bytes as those already there.
        guard request.httpMethod != "HEAD", condition == nil || condition == tag,
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

    /// Weak comparison (section 13.1.2); our tags have no comma in them.
    private static func matches(_ content: StoredContent, _ field: String) -> Bool {
        field.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.contains { tag in
            tag == "*" || tag == content.entityTag || tag == "W/" + content.entityTag
        }
    }
}

/// What a session's client is told.
struct Answer: Sendable {
    let response: HTTPURLResponse
    let body: Data

    init(response: HTTPURLResponse, body: Data) {
        self.response = response
        self.body = body
    }

    init(_ url: URL, _ status: Int, _ headers: [String: String], _ body: Data = Data()) throws(CameoURLError) {
        guard
            let response = HTTPURLResponse(
                url: url,
                statusCode: status,
                httpVersion: "HTTP/1.1",
                headerFields: headers
            )
        else { throw .unsupportedURL(url.absoluteString, reason: "Foundation makes no response for it") }
        self.init(response: response, body: body)
    }
}
