internal import CameoModel
internal import CameoStore
internal import Foundation
internal import HTTPTypes

/// The thumbnails and job options requested for an uploaded picture, from the query or from the fields of a form.
struct PictureOptions: Sendable {
    private static let names = ["size", "preset", "queue", "priority", "batch", "hook", "key"]
    /// The size used if neither `size` nor `preset` is given, in pixels.
    private static let standard = "256x256"

    let request: ThumbnailRequest
    let cacheKey: CacheKey?

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
            try self.init(presets) { form[$0].map { String(decoding: $0, as: UTF8.self) } }
            return
        }
        if let other = form.names.first(where: { $0 != "key" && Self.names.contains($0) }) {
            throw Problem(
                .badRequest,
                "the form has both \"request\" and \"\(other)\": use one or the other"
            )
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

    private init(request: ThumbnailRequest, cacheKey: CacheKey?) {
        self.request = request
        self.cacheKey = cacheKey
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
        request.hook = value("hook")
        try request.validate()
        self.init(request: request, cacheKey: try value("key").map { try CacheKey($0) })
    }
}
