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
                let reason = "must be 0, 90, 180 or 270, not \(degrees)"
                throw InvalidRequest(path: reader.path(of: "rotate"), reason: reason)
            }
            rotate = rotation
        }
        flip = try reader.choice("flip", Flip.self)
        look = try Look(reader)
        encoding = try Encoding(reader)
        try validate(at: path)
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
