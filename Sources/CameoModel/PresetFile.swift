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

    /// All presets, sorted by name.
    package var all: [Preset] { presets.values.sorted { $0.name < $1.name } }

    package subscript(name: String) -> Preset? { presets[name] }

    /// These presets merged with those of another file, which replace presets of the same name.
    package func replaced(by other: PresetFile) -> PresetFile { PresetFile(all + other.all) }
}

extension PresetFile {
    /// The built-in presets: the same document as `proto-json/examples/presets/built-in.json` (a test compares them),
    /// as text, so that the installed program needs no extra file.
    package static let builtInText = """
        {
          "presets": {
            "avatar": {
              "description": "Round pictures of a face, cut where it is, for one and two pixels a point",
              "renditions": [
                {"name": "avatar-48", "width": 48, "height": 48, "fit": "cover", "gravity": "attention",
                  "cornerRadius": "circle", "withoutEnlargement": false},
                {"name": "avatar-96", "width": 96, "height": 96, "fit": "cover", "gravity": "attention",
                  "cornerRadius": "circle", "withoutEnlargement": false},
                {"name": "avatar-192", "width": 192, "height": 192, "fit": "cover", "gravity": "attention",
                  "cornerRadius": "circle", "withoutEnlargement": false}
              ]
            },
            "favicon": {
              "description": "A logo as the icons that browsers and phones ask for",
              "renditions": [
                {"name": "favicon-32", "width": 32, "height": 32, "fit": "contain", "format": "png",
                  "withoutEnlargement": false},
                {"name": "favicon-192", "width": 192, "height": 192, "fit": "contain", "format": "png",
                  "withoutEnlargement": false},
                {"name": "favicon-512", "width": 512, "height": 512, "fit": "contain", "format": "png",
                  "withoutEnlargement": false},
                {"name": "apple-touch-icon", "width": 180, "height": 180, "fit": "contain", "format": "png",
                  "withoutEnlargement": false, "background": "#ffffffff"}
              ]
            },
            "gallery": {
              "description": "A square for the grid, a view for the page, and a large one",
              "renditions": [
                {"name": "grid", "width": 320, "height": 320, "fit": "cover", "gravity": "attention"},
                {"name": "view", "width": 1280, "height": 1280},
                {"name": "large", "width": 2560, "height": 2560}
              ]
            },
            "hero": {
              "description": "A wide banner for a page's top, for desktop and phone",
              "renditions": [
                {"name": "hero-wide", "width": 1920, "height": 720, "fit": "cover", "gravity": "attention"},
                {"name": "hero-narrow", "width": 828, "height": 1035, "fit": "cover", "gravity": "attention"}
              ]
            },
            "product": {
              "description": "A shop's article: border trimmed, centred on a white square",
              "renditions": [
                {"name": "list", "width": 240, "height": 240, "fit": "contain", "trim": 10, "format": "jpeg",
                  "background": "#ffffffff"},
                {"name": "detail", "width": 800, "height": 800, "fit": "contain", "trim": 10, "format": "jpeg",
                  "background": "#ffffffff"},
                {"name": "zoom", "width": 2000, "height": 2000, "fit": "contain", "trim": 10, "format": "jpeg",
                  "background": "#ffffffff", "progressive": true}
              ]
            },
            "responsive": {
              "description": "The widths of an img element's srcset",
              "renditions": [
                {"name": "w480", "width": 480},
                {"name": "w768", "width": 768},
                {"name": "w1024", "width": 1024},
                {"name": "w1600", "width": 1600},
                {"name": "w2560", "width": 2560}
              ]
            },
            "social": {
              "description": "What links show when they are shared: Open Graph's card and a square",
              "renditions": [
                {"name": "og", "width": 1200, "height": 630, "fit": "cover", "gravity": "attention",
                  "format": "jpeg", "withoutEnlargement": false},
                {"name": "square", "width": 1080, "height": 1080, "fit": "cover", "gravity": "attention",
                  "format": "jpeg", "withoutEnlargement": false}
              ]
            }
          }
        }
        """

    /// Parses ``builtInText``. A test shows that this does not throw.
    package static func builtIn() throws(InvalidRequest) -> PresetFile { try PresetFile(parsing: builtInText.utf8) }
}

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

/// A named list of renditions. The client expands it: a request carries the renditions, and neither the queue nor a
/// thumbnail's id depends on presets.
package struct Preset: Hashable, Sendable {
    /// The preset's name: 1 to 64 characters of a-z 0-9 . _ -
    package var name: String
    /// One line of help for choosing a preset.
    package var description: String?
    package var renditions: [Rendition]

    package init(name: String, description: String? = nil, renditions: [Rendition]) {
        self.name = name
        self.description = description
        self.renditions = renditions
    }
}
