internal import CameoModel
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension Response {
    /// Makes a JSON response that caches must not store.
    init(json: JSONValue, status: HTTPResponse.Status = .ok, mediaType: String = "application/json") {
        self.init(text: json.canonicalText + "\n", status: status, contentType: mediaType)
    }

    /// Makes a response from a message in the wire format, which caches must not store.
    init(message: some Encodable, status: HTTPResponse.Status = .ok) throws {
        let text = String(decoding: try WireFormat.encode(message), as: UTF8.self)
        self.init(text: text + "\n", status: status, contentType: "application/json")
    }

    init(text: String, status: HTTPResponse.Status = .ok, contentType: String) {
        self.init(
            status: status,
            headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }

    /// Returns the response without its body, for HEAD.
    func withoutBody() -> Response {
        var headers = headers
        if headers[.contentLength] == nil, let length = body.contentLength { headers[.contentLength] = "\(length)" }
        return Response(status: status, headers: headers)
    }
}
