extension Rendition.Overlay {
    package static let fields = ["source", "gravity", "opacity", "scale", "margin"]

    init(json: JSONValue, at path: String) throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: path, fields: Self.fields)
        guard let source = try reader.string("source") else {
            throw InvalidRequest(path: reader.path(of: "source"), reason: "is required")
        }
        self.init(
            source: source,
            gravity: try Rendition.Gravity(reader, "gravity") ?? .southeast,
            opacity: try reader.number("opacity", in: Self.opacityRange) ?? 1,
            scale: try reader.number("scale", in: Self.scaleRange),
            margin: try reader.integer("margin", in: Self.marginRange) ?? 0
        )
    }

    var json: JSONValue {
        var members = definition
        members["source"] = .string(source)
        return .object(members)
    }

    /// The ``json`` with the source replaced by its identity: an inline picture by the digest of its bytes.
    var definition: [String: JSONValue] {
        // A malformed source has no identity; the request's validation refuses it.
        let identity = (try? SourceIdentity(of: source))?.text ?? source
        var members: [String: JSONValue] = ["source": .string(identity)]
        if gravity != .southeast { members["gravity"] = gravity.json }
        if opacity != 1 { members["opacity"] = .number(opacity) }
        if let scale { members["scale"] = .number(scale) }
        if margin != 0 { members["margin"] = .integer(Int64(margin)) }
        return members
    }

    func validate(at path: String) throws(InvalidRequest) {
        try ThumbnailRequest.validateSource(source, at: "\(path).source")
        if gravity.isSmart {
            throw Rendition.refusal(path, "gravity", "must be a position: a compass point or {\"x\":…,\"y\":…}")
        }
        try gravity.validate(at: "\(path).gravity")
        try Rendition.check(opacity, in: Self.opacityRange, path, "opacity")
        try Rendition.check(scale, in: Self.scaleRange, path, "scale")
        try Rendition.check(margin, in: Self.marginRange, path, "margin")
    }
}
