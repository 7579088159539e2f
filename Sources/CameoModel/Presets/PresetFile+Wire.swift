extension PresetFile {
    /// Parses a whole file as strictly as a request: an unknown field or word is refused by name.
    package init(parsing text: some Sequence<UInt8>) throws(InvalidRequest) {
        try self.init(json: try JSONValue(reading: text, atMost: Self.maximumBytes))
    }

    package init(json: JSONValue) throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: "", fields: ["presets"])
        guard let members = try reader.object("presets") else {
            throw InvalidRequest(path: "presets", reason: "is required")
        }
        var presets: [Preset] = []
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            presets.append(try Preset(name: name, json: value, at: "presets.\(name)"))
        }
        self.init(presets)
    }

    /// The wire form, without fields of renditions that equal their defaults.
    package var json: JSONValue {
        .object(["presets": .object(Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0.json) }))])
    }
}

extension Preset {
    init(name: String, json: JSONValue, at path: String) throws(InvalidRequest) {
        guard ThumbnailRequest.isLabel(name) else {
            throw InvalidRequest(path: path, reason: "its name must be 1 to 64 of a-z 0-9 . _ -, not \"\(name)\"")
        }
        let reader = try JSONObjectReader(json, at: path, fields: ["description", "renditions"])
        let description = try reader.string("description")
        if let description {
            guard (1...PresetFile.maximumDescription).contains(description.unicodeScalars.count),
                !description.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
            else {
                let reason = "must be 1 to \(PresetFile.maximumDescription) characters without control characters"
                throw InvalidRequest(path: reader.path(of: "description"), reason: reason)
            }
        }
        guard let items = try reader.array("renditions") else {
            throw InvalidRequest(path: reader.path(of: "renditions"), reason: "is required")
        }
        let renditions = try Rendition.list(items, at: reader.path(of: "renditions"))
        try Rendition.validate(renditions, at: reader.path(of: "renditions"))
        self.init(name: name, description: description, renditions: renditions)
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["renditions": .array(renditions.map(\.json))]
        if let description { members["description"] = .string(description) }
        return .object(members)
    }
}
