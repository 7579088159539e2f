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
