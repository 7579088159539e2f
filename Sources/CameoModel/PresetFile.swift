/// Named lists of renditions. JSON form: `proto-json/presets.schema.json`.
package struct PresetFile: Hashable, Sendable {
    package static let maximumBytes = ThumbnailRequest.maximumBytes
    /// The maximum length of a preset's description in characters (Unicode scalars).
    package static let maximumDescription = 200

    private var presets: [String: Preset]

    /// If two presets have the same name, the last one wins.
    package init(_ presets: [Preset]) {
        self.presets = Dictionary(presets.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
    }

    package var all: [Preset] { presets.values.sorted { $0.name < $1.name } }

    package subscript(name: String) -> Preset? { presets[name] }

    /// These presets merged with those of another file, which replace presets of the same name.
    package func replaced(by other: PresetFile) -> PresetFile { PresetFile(all + other.all) }

    /// The built-in presets, which are in `proto-json/examples/presets/built-in.json`. A test shows that this does not throw.
    package static func builtIn() throws(InvalidRequest) -> PresetFile {
        try PresetFile(parsing: PackageResources.built_in_json)
    }

    /// Parses a whole file as strictly as a request: an unknown field or word is refused by name.
    package init(parsing text: some Sequence<UInt8>) throws(InvalidRequest) {
        let json = try JSONValue(reading: text, atMost: Self.maximumBytes)
        self.init(try json.named("presets", Preset.init(name:json:at:)))
    }

    /// The wire form, without fields of renditions that equal their defaults.
    package var json: JSONValue {
        .object(["presets": .object(Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0.json) }))])
    }
}

extension Preset {
    init(name: String, json: JSONValue, at path: String) throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: path, fields: ["description", "renditions"])
        let description = try reader.string("description")
        let limit = PresetFile.maximumDescription
        if let description, !ThumbnailRequest.isLine(description, of: limit) {
            throw reader.refusal("description", "must be 1 to \(limit) characters without control characters")
        }
        let items = try reader.required("renditions", try reader.array("renditions"))
        let renditions = try Rendition.list(items, at: reader.path(of: "renditions"))
        self.init(name: name, description: description, renditions: renditions)
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["renditions": .array(renditions.map(\.json))]
        if let description { members["description"] = .string(description) }
        return .object(members)
    }
}

/// A named list of renditions. The client expands it: a request carries the renditions, and neither the queue nor a
/// thumbnail's id depends on presets.
package struct Preset: Hashable, Sendable {
    /// The preset's name: 1 to 64 characters of a-z 0-9 . _ -
    package var name: String
    /// One line of help for choosing a preset.
    package var description: String?
    package var renditions: [Rendition]
}
