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
