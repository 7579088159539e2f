/// Renditions under one name, so that nobody types them again. The client expands it: a request carries the renditions,
/// and neither the queue nor a thumbnail's id knows of presets.
package struct Preset: Hashable, Sendable {
    /// 1 to 64 of a-z 0-9 . _ -
    package var name: String
    /// For a person who chooses one; one line.
    package var description: String?
    package var renditions: [Rendition]

    package init(name: String, description: String? = nil, renditions: [Rendition]) {
        self.name = name
        self.description = description
        self.renditions = renditions
    }
}
