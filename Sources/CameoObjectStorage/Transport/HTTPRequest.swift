internal import Foundation

/// An HTTP/1.1 request as it is sent.
struct HTTPRequest: Sendable {
    enum Method: String, Sendable {
        case delete = "DELETE"
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case put = "PUT"
    }

    var method: Method
    var url: String
    /// All headers but those that libcurl adds: `Host`, `Content-Length`, `Expect`.
    var headers: [(name: String, value: String)] = []
    /// The body of a PUT or a POST, which may be empty; nil for other methods.
    var body: Data?
    /// Where the body of a successful answer goes.
    var destination: BodyDestination = .memory(limit: HTTPResponse.textLimit)
    var limits = TransferLimits()
}
