/// Renditions in JSON.
extension Rendition {
    package static let fields =
        ["name", "width", "height", "fit", "withoutEnlargement", "gravity"]
        + ["dpr", "page", "time", "accurate", "storyboard", "trim", "crop", "rotate", "flip", "background"]
        + Look.fields + ["format", "quality"] + Encoding.fields

    package init(json: JSONValue, at path: String) throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: path, fields: Self.fields)
        self.init(
            name: try reader.string("name"),
            width: try reader.integer("width", in: Self.edgeRange),
            height: try reader.integer("height", in: Self.edgeRange),
            fit: try reader.choice("fit", Fit.self) ?? .inside,
            withoutEnlargement: try reader.bool("withoutEnlargement") ?? true,
            gravity: try Gravity(reader, "gravity") ?? .center,
            format: try reader.choice("format", Format.self) ?? .auto,
            quality: try reader.integer("quality", in: Self.qualityRange),
            background: try reader.color("background")
        )
        dpr = try reader.number("dpr", in: Self.densityRange) ?? 1
        page = try reader.integer("page", in: Self.pageRange) ?? 0
        time = try FrameTime(reader, "time") ?? .auto
        accurate = try reader.bool("accurate") ?? false
        if let tiles = reader.value("storyboard") {
            storyboard = try Storyboard(json: tiles, at: reader.path(of: "storyboard"))
        }
        trim = try reader.integer("trim", in: Self.trimRange)
        if let area = reader.value("crop") { crop = try CropArea(json: area, at: reader.path(of: "crop")) }
        if let degrees = try reader.integer("rotate", in: -Int(Int32.max)...Int(Int32.max)) {
            guard let rotation = Rotation(rawValue: degrees) else {
                throw reader.refusal("rotate", "must be 0, 90, 180 or 270, not \(degrees)")
            }
            rotate = rotation
        }
        flip = try reader.choice("flip", Flip.self)
        look = try Look(reader)
        encoding = try Encoding(reader)
        try check(at: path)
    }

    /// The wire form, without fields that equal their defaults.
    package var json: JSONValue {
        var members = definition
        let derived = Self.defaultName(width: width, height: height, fit: fit, format: format)
        if name != derived { members["name"] = .string(name) }
        if let overlay = look.overlay { members["overlay"] = overlay.json }
        return .object(members)
    }

    /// The input to the thumbnail's id: every field that differs from its frozen default, without the name.
    package var definition: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if let width { members["width"] = .integer(Int64(width)) }
        if let height { members["height"] = .integer(Int64(height)) }
        if fit != .inside { members["fit"] = .string(fit.rawValue) }
        if !withoutEnlargement { members["withoutEnlargement"] = .bool(false) }
        if gravity != .center { members["gravity"] = gravity.json }
        if dpr != 1 { members["dpr"] = .number(dpr) }
        if page != 0 { members["page"] = .integer(Int64(page)) }
        if time != .auto { members["time"] = time.json }
        if accurate { members["accurate"] = .bool(true) }
        if let storyboard { members["storyboard"] = storyboard.json }
        if let trim { members["trim"] = .integer(Int64(trim)) }
        if let crop { members["crop"] = crop.json }
        if rotate != .none { members["rotate"] = .integer(Int64(rotate.rawValue)) }
        if let flip { members["flip"] = .string(flip.rawValue) }
        if format != .auto { members["format"] = .string(format.rawValue) }
        if let quality { members["quality"] = .integer(Int64(quality)) }
        if let background { members["background"] = .string(background.description) }
        look.define(&members)
        encoding.define(&members)
        return members
    }
}

extension Rendition.CropArea {
    package static let fields = ["left", "top", "width", "height", "unit"]

    init(json: JSONValue, at path: String) throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: path, fields: Self.fields)
        let bounds = 0...Double(RenderLimits.pixelCoordinates)
        guard let width = try reader.number("width", in: bounds), let height = try reader.number("height", in: bounds)
        else { throw InvalidRequest(path: path, reason: "needs a width and a height") }
        self.init(
            left: try reader.number("left", in: bounds) ?? 0,
            top: try reader.number("top", in: bounds) ?? 0,
            width: width,
            height: height,
            unit: try reader.choice("unit", Unit.self) ?? .pixels
        )
        try check(at: path)
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["width": .number(width), "height": .number(height)]
        if left != 0 { members["left"] = .number(left) }
        if top != 0 { members["top"] = .number(top) }
        if unit != .pixels { members["unit"] = .string(unit.rawValue) }
        return .object(members)
    }

    private func check(at path: String) throws(InvalidRequest) {
        for (field, number) in [("left", left), ("top", top), ("width", width), ("height", height)] {
            switch unit {
            case .pixels:
                guard number == number.rounded() else {
                    throw Rendition.refusal(path, field, "must be whole pixels, not \(number), or have unit fraction")
                }
            case .fraction: try Rendition.check(number, in: 0...1, path, field)
            }
        }
        for (field, number) in [("width", width), ("height", height)] where number == 0 {
            throw Rendition.refusal(path, field, "must be more than 0")
        }
        // Thirds and tenths do not add up to exactly 1 in binary.
        guard unit == .pixels || (left + width <= 1.000_001 && top + height <= 1.000_001) else {
            let reason = "reaches beyond the picture: left + width or top + height is over 1"
            throw InvalidRequest(path: path, reason: reason)
        }
    }
}

extension Rendition.Overlay {
    package static let fields = ["source", "gravity", "opacity", "scale", "margin"]

    init(json: JSONValue, at path: String) throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: path, fields: Self.fields)
        self.init(
            source: try reader.required("source", try reader.string("source")),
            gravity: try Rendition.Gravity(reader, "gravity") ?? .southeast,
            opacity: try reader.number("opacity", in: Self.opacityRange) ?? 1,
            scale: try reader.number("scale", in: Self.scaleRange),
            margin: try reader.integer("margin", in: Self.marginRange) ?? 0
        )
        try ThumbnailRequest.validateSource(source, at: reader.path(of: "source"))
        if gravity.isSmart {
            throw reader.refusal("gravity", "must be a position: a compass point or {\"x\":…,\"y\":…}")
        }
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
}
