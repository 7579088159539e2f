extension Rendition {
    static let fields = [
        "name", "width", "height", "fit", "withoutEnlargement", "gravity", "format", "quality", "background",
    ]

    /// The rest of the rendition's shape, designed but not built: refused by name rather than ignored.
    static let reservedFields = [
        "dpr", "crop", "rotate", "flip", "trim", "page", "cornerRadius", "corners", "blur", "sharpen", "grayscale",
        "tint", "brightness", "saturation", "contrast", "overlay", "lossless", "effort", "progressive",
        "chromaSubsampling", "palette", "maxBytes", "animated", "keepProfile", "keep",
    ]

    package init(json: JSONValue, at path: String) throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: path, fields: Self.fields, reserved: Self.reservedFields)
        var background: Color?
        if let text = try reader.string("background") {
            guard let color = Color(text) else {
                let reason = "must be #rgb, #rgba, #rrggbb or #rrggbbaa, not \"\(text)\""
                throw InvalidRequest(path: reader.path(of: "background"), reason: reason)
            }
            background = color
        }
        self.init(
            name: try reader.string("name"),
            width: try reader.integer("width", in: Self.edgeRange),
            height: try reader.integer("height", in: Self.edgeRange),
            fit: try reader.choice("fit", Fit.self) ?? .inside,
            withoutEnlargement: try reader.bool("withoutEnlargement") ?? true,
            gravity: try reader.choice("gravity", Gravity.self) ?? .center,
            format: try reader.choice("format", Format.self) ?? .auto,
            quality: try reader.integer("quality", in: Self.qualityRange),
            background: background
        )
        try validate(at: path)
    }

    /// Checks what a program that built the value itself may have got wrong.
    func validate(at path: String) throws(InvalidRequest) {
        func refuse(_ field: String, _ reason: String) -> InvalidRequest {
            InvalidRequest(path: "\(path).\(field)", reason: reason)
        }
        guard width != nil || height != nil else {
            throw InvalidRequest(path: path, reason: "needs a width, a height or both")
        }
        for (field, edge) in [("width", width), ("height", height)] {
            if let edge, !Self.edgeRange.contains(edge) {
                throw refuse(field, "must be between 1 and \(Self.edgeRange.upperBound), not \(edge)")
            }
        }
        if let quality, !Self.qualityRange.contains(quality) {
            throw refuse("quality", "must be between 1 and 100, not \(quality)")
        }
        if quality != nil, format == .png {
            throw refuse("quality", "has no meaning for png, which is lossless")
        }
        if fit == .contain, gravity == .entropy || gravity == .attention {
            throw refuse("gravity", "\(gravity.rawValue) chooses what cover cuts; contain cuts nothing")
        }
        guard Self.isValidName(name) else {
            throw refuse("name", "must be 1 to 64 of A-Z a-z 0-9 . _ - and not begin with a dot, not \"\(name)\"")
        }
    }

    private static func isValidName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.first != "."
            && name.utf8.allSatisfy { byte in
                let scalar = UnicodeScalar(byte)
                return byte < 0x80
                    && (Character(scalar).isLetter || Character(scalar).isNumber
                        || "._-".unicodeScalars.contains(scalar))
            }
    }

    /// The wire form; fields that equal their default are left out.
    package var json: JSONValue {
        var members = definition
        let derived = Self.defaultName(width: width, height: height, fit: fit, format: format)
        if name != derived { members["name"] = .string(name) }
        return .object(members)
    }

    /// What the rendition's id is a function of: every field that differs from its frozen default, without the name.
    var definition: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if let width { members["width"] = .integer(Int64(width)) }
        if let height { members["height"] = .integer(Int64(height)) }
        if fit != .inside { members["fit"] = .string(fit.rawValue) }
        if !withoutEnlargement { members["withoutEnlargement"] = .bool(false) }
        if gravity != .center { members["gravity"] = .string(gravity.rawValue) }
        if format != .auto { members["format"] = .string(format.rawValue) }
        if let quality { members["quality"] = .integer(Int64(quality)) }
        if let background { members["background"] = .string(background.description) }
        return members
    }
}
