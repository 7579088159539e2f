internal import Foundation

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
