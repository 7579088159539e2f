/// Named lists of renditions. JSON form: `proto-json/presets.schema.json`.
package struct PresetFile: Hashable, Sendable {
    /// Bytes of the file.
    package static let maximumBytes = ThumbnailRequest.maximumBytes
    /// Characters (Unicode scalars) of a preset's description.
    package static let maximumDescription = 200

    private var presets: [String: Preset]

    /// Of presets of one name the last one stays.
    package init(_ presets: [Preset]) {
        self.presets = Dictionary(presets.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
    }

    /// Sorted by name.
    package var all: [Preset] { presets.values.sorted { $0.name < $1.name } }

    package subscript(name: String) -> Preset? { presets[name] }

    /// These presets and those of another file, which replace those of the same name.
    package func replaced(by other: PresetFile) -> PresetFile { PresetFile(all + other.all) }
}
