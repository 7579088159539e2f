internal import CameoModel
internal import CameoStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// Takes requests and pictures.
extension WebExchange {
    /// Enqueues a request or a picture.
    func enqueue() async throws -> Response {
        let name = try site.configuration.tokens.demand(.enqueue, of: request)
        // Two tokens may use the same key.
        let key = try HTTPField.Name("Idempotency-Key").flatMap { request.headers[$0] }
            .map { try IdempotencyKey($0, of: name) }
        let receipt = try await receipt(key)
        let metadata: Logger.Metadata = [
            "by": "\(name)", "job": .stringConvertible(receipt.id ?? 0), "outcome": "\(receipt.outcome.rawValue)",
        ]
        site.logger.info("enqueued", metadata: metadata)
        var response = try Response(message: ServedMessage(receipt, site), status: .created)
        if let id = receipt.id { response.headers[.location] = "\(site.configuration.basePath)/jobs/\(id)" }
        return response
    }

    private func receipt(_ key: IdempotencyKey?) async throws -> EnqueueReceipt {
        let type = MediaTypeField(request.headers[.contentType] ?? "")
        let body = try RequestBodyReader(request, context, site)
        // Its bytes count until the store has them.
        defer { withExtendedLifetime(body) {} }
        let maximum = site.configuration.maximumUpload
        let isMedia = ["image/", "video/", "audio/"].contains(where: type.essence.hasPrefix)
        switch type.essence {
        case "application/json":
            try refuseItems("in JSON, it is part of the request")
            let what = "a request (whose picture may be the body itself, or a part of a form)"
            let text = try await body.read(atMost: ThumbnailRequest.maximumBytes, what)
            return try await site.store.enqueue(ThumbnailRequest(parsing: text), data: nil, cacheKey: nil, once: key)
        case "multipart/form-data":
            try refuseItems("in a form, send it as a field")
            // The request and the boundary lines come on top of the picture.
            let limit = maximum + ThumbnailRequest.maximumBytes + 65_536
            let (asked, picture) = try await form(type, body, atMost: limit)
            return try await enqueue(asked, picture, key)
        case _ where isMedia || type.essence == "application/octet-stream":
            let asked = try PictureOptions(target.query, site.configuration.presets)
            return try await enqueue(asked, try await body.read(atMost: maximum, "a picture"), key)
        default:
            throw Problem(
                .unsupportedMediaType,
                "must be application/json (a request), image/…, video/… or audio/…, or multipart/form-data, not \"\(type.essence)\""
            )
        }
    }

    /// Refuses items of the query, those that have a place elsewhere with this advice.
    private func refuseItems(_ advice: String) throws(Problem) {
        if let name = try target.query.unknown(besides: []).first(where: PictureOptions.names.contains) {
            throw Problem(.badRequest, "\"\(name)\" is in the query: \(advice)")
        }
        try target.query.allow()
    }

    private func form(_ type: MediaTypeField, _ body: RequestBodyReader, atMost limit: Int) async throws
        -> (PictureOptions, Data)
    {
        guard let boundary = type["boundary"], (1...70).contains(boundary.utf8.count) else {
            throw Problem(.badRequest, "multipart/form-data needs a boundary of 1 to 70 characters")
        }
        let form = try MultipartForm(try await body.read(atMost: limit, "a form"), boundary: boundary)
        guard let picture = form["picture"] else {
            let reason = "the form has no \"picture\" part"
            throw Problem(.unprocessableContent, reason, code: .requestInvalid, field: "picture")
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

/// The thumbnails and job options requested for an uploaded picture, from the query or from the fields of a form.
struct PictureOptions: Sendable {
    fileprivate static let names = [
        "size", "preset", "queue", "priority", "batch", "label", "hook", "tenant", "key", "name",
    ]
    /// The size used if neither `size` nor `preset` is given, in pixels.
    private static let standard = "256x256"

    let request: ThumbnailRequest
    let cacheKey: CacheKey?
}

extension PictureOptions {
    init(_ query: QueryItems, _ presets: PresetFile) throws {
        try query.allow(Self.names)
        try self.init(presets) { query[$0] }
    }

    /// Reads a form, which may contain a whole `request` instead of single fields.
    init(_ form: MultipartForm, _ presets: PresetFile) throws {
        for name in form.names where name != "picture" && name != "request" && !Self.names.contains(name) {
            let known = Self.names.joined(separator: ", ")
            throw Problem(.badRequest, "unknown part \"\(name)\": the parts are picture, request, \(known)")
        }
        guard let text = form["request"] else {
            try self.init(presets) { name in
                form[name].map { String(decoding: $0, as: UTF8.self) }
                    ?? (name == "name" ? form.fileName(of: "picture") : nil)
            }
            return
        }
        if let other = form.names.first(where: { $0 != "key" && Self.names.contains($0) }) {
            throw Problem(.badRequest, "the form has both \"request\" and \"\(other)\": use one or the other")
        }
        // A request must have a source; here it is the picture.
        guard case .object(var members) = try JSONValue(reading: text, atMost: ThumbnailRequest.maximumBytes) else {
            throw InvalidRequest(path: "", reason: "must be an object")
        }
        guard members["source"] == nil else {
            throw InvalidRequest(path: "source", reason: "must be absent: the picture is the source")
        }
        members["source"] = "data:,"
        self.init(
            request: try ThumbnailRequest(json: .object(members)),
            cacheKey: try form["key"].map { try CacheKey(String(decoding: $0, as: UTF8.self)) }
        )
    }

    private init(_ presets: PresetFile, _ value: (String) -> String?) throws {
        var renditions: [Rendition] = []
        for name in (value("preset") ?? "").split(separator: ",").map(String.init) {
            guard let preset = presets[name] else { throw RenditionName.unknown(name, presets) }
            renditions += preset.renditions
        }
        let sizes = value("size") ?? (renditions.isEmpty ? Self.standard : "")
        for size in sizes.split(separator: ",") { renditions.append(try RenditionName.size(String(size))) }
        var request = ThumbnailRequest(source: "data:,", renditions: renditions)
        if let queue = value("queue") { request.queue = queue }
        if let text = value("priority") {
            guard let priority = Int(text) else {
                throw InvalidRequest(path: "priority", reason: "must be a whole number, not \"\(text)\"")
            }
            request.priority = priority
        }
        request.batch = value("batch")
        request.labels = value("label").map { [$0] } ?? []
        (request.hook, request.tenant) = (value("hook"), value("tenant"))
        if let name = value("name"), !name.isEmpty { request.metadata["name"] = .string(name) }
        try request.validate()
        self.init(request: request, cacheKey: try value("key").map { try CacheKey($0) })
    }
}

/// The value of `Content-Type` or `Content-Disposition`: its first word in lower case, and its parameters (RFC 9110,
/// sections 5.6.6 and 8.3.1).
struct MediaTypeField {
    let essence: String
    private let parameters: [String: String]

    init(_ text: String) {
        let parts = Self.parts(of: text)
        essence = parts[0].lowercased()
        var parameters: [String: String] = [:]
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2, parameters[pair[0].lowercased()] == nil { parameters[pair[0].lowercased()] = pair[1] }
        }
        self.parameters = parameters
    }

    /// Splits at semicolons, except within quotation marks, which are taken off.
    private static func parts(of text: String) -> [String] {
        var parts = [""]
        var isQuoted = false
        var isEscaped = false
        for character in text {
            switch character {
            case _ where isEscaped:
                isEscaped = false
                parts[parts.count - 1].append(character)
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case ";" where !isQuoted: parts.append("")
            default: parts[parts.count - 1].append(character)
            }
        }
        return parts.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The value of the parameter with this lower-case name.
    subscript(name: String) -> String? { parameters[name] }
}
