internal import CameoHTTPCache
internal import CameoStore
internal import Foundation

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
            return try Representation(url: url, headers: headers, data: data).answer(to: request)
        } catch StoreError.notFound where timeout < address.wait {
            throw URLError(.timedOut)
        } catch let error as StoreError {
            throw CameoURLError(error, url: url.absoluteString)
        }
    }
}
