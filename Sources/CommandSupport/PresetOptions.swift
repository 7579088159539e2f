package import ArgumentParser
package import CameoModel

/// The presets that a command line names, built in or from a file.
package struct PresetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Make the renditions of this preset (see cameo-enqueue --list-presets). Repeatable.",
            valueName: "name"
        ),
        completion: Presets.completion
    )
    package var preset: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            A file of presets (proto-json/presets.schema.json), which override built-in ones of the same name. \
            (default: $\(Presets.variable), else only the built-in ones)
            """,
            valueName: "file.json"
        ),
        completion: .file()
    )
    package var presets: String?

    package init() {}

    package var given: [String] { (preset.isEmpty ? [] : ["--preset"]) + (presets == nil ? [] : ["--presets"]) }

    /// The built-in presets, and those of the file.
    package func load() throws -> PresetFile { try Presets.load(presets) }
}
