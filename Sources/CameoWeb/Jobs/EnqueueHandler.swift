internal import CameoModel
internal import CameoStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// Enqueues a request or a picture.
struct EnqueueHandler {
    let site: Site
    let request: Request
    let target: RequestTarget
    let context: WebContext

    func answer() async throws -> Response {
        let name = try site.configuration.tokens.demand(.enqueue, of: request)
        let receipt = try await receipt(try idempotencyKey(of: name))
        site.logger.info(
            "enqueued",
            metadata: [
                "by": "\(name)", "job": .stringConvertible(receipt.id ?? 0), "outcome": "\(receipt.outcome.rawValue)",
            ]
        )
        var response = Response(json: try ReceiptView(receipt, site).json, status: .created)
        if let id = receipt.id { response.headers[.location] = "\(site.configuration.basePath)/jobs/\(id)" }
        return response
    }

    /// Two tokens may use the same key.
    private func idempotencyKey(of token: String) throws(InvalidRequest) -> IdempotencyKey? {
        guard let text = HTTPField.Name("Idempotency-Key").flatMap({ request.headers[$0] }) else { return nil }
        return try IdempotencyKey(text, of: token)
    }

    private static let request = "a request (whose picture may be the body itself, or a part of a form)"

    private func receipt(_ key: IdempotencyKey?) async throws -> EnqueueReceipt {
        let type = MediaTypeField(request.headers[.contentType] ?? "")
        let body = try RequestBodyReader(request, context, site)
        // Its bytes count until the store has them.
        defer { withExtendedLifetime(body) {} }
        let maximum = site.configuration.maximumUpload
        switch type.essence {
        case "application/json":
            try target.query.allow()
            let text = try await body.read(atMost: ThumbnailRequest.maximumBytes, Self.request)
            return try await site.store.enqueue(ThumbnailRequest(parsing: text), data: nil, cacheKey: nil, once: key)
        case "multipart/form-data":
            try target.query.allow()
            // The request and the boundary lines come on top of the picture.
            let limit = maximum + ThumbnailRequest.maximumBytes + 65_536
            let (asked, picture) = try await form(type, body, atMost: limit)
            return try await enqueue(asked, picture, key)
        case _ where type.essence.hasPrefix("image/") || type.essence == "application/octet-stream":
            let asked = try PictureOptions(target.query, site.configuration.presets)
            return try await enqueue(asked, try await body.read(atMost: maximum, "a picture"), key)
        default:
            throw Problem(
                .unsupportedMediaType,
                "must be application/json (a request), image/… (a picture) or multipart/form-data, not \"\(type.essence)\""
            )
        }
    }

    private func form(_ type: MediaTypeField, _ body: RequestBodyReader, atMost limit: Int) async throws
        -> (PictureOptions, Data)
    {
        guard let boundary = type["boundary"], (1...70).contains(boundary.utf8.count) else {
            throw Problem(.badRequest, "multipart/form-data needs a boundary of 1 to 70 characters")
        }
        let form = try MultipartForm(try await body.read(atMost: limit, "a form"), boundary: boundary)
        guard let picture = form["picture"] else {
            throw Problem(
                .unprocessableContent,
                "the form has no \"picture\" part",
                code: .requestInvalid,
                field: "picture"
            )
        }
        guard picture.count <= site.configuration.maximumUpload else {
            throw RequestBodyReader.tooLarge("a picture", site.configuration.maximumUpload)
        }
        return (try PictureOptions(form, site.configuration.presets), picture)
    }

    private func enqueue(_ asked: PictureOptions, _ picture: Data, _ key: IdempotencyKey?) async throws
        -> EnqueueReceipt
    {
        guard !picture.isEmpty else {
            throw Problem(.unprocessableContent, "the picture is empty", code: .requestInvalid, field: "picture")
        }
        return try await site.store.enqueue(asked.request, data: picture, cacheKey: asked.cacheKey, once: key)
    }
}
