internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// Named lists of renditions, built in or from a file.
struct PresetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Make the renditions of this preset (see --list-presets). Repeatable; --size adds more.",
            valueName: "name"
        ),
        completion: Presets.completion
    )
    var preset: [String] = []

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
    var presets: String?

    @Flag(help: "List the presets without enqueueing anything; with --json as a presets file.")
    var listPresets = false

    var given: [String] { (preset.isEmpty ? [] : ["--preset"]) + (presets == nil ? [] : ["--presets"]) }

    func validate() throws {
        guard presets == nil || listPresets || !preset.isEmpty else {
            throw ValidationError("--presets needs --preset or --list-presets")
        }
    }

    /// The renditions of all `--preset` in order, each with the option that requested it.
    func renditions() throws -> [(Rendition, String)] {
        preset.isEmpty ? [] : try Presets.load(presets).renditions(of: preset)
    }

    /// Prints one preset per line, or all as JSON.
    func list(asJSON: Bool) throws {
        let file = try Presets.load(presets)
        guard !asJSON else { return Output.line(file.json.canonicalText) }
        for preset in file.all {
            let renditions = preset.renditions.map(\.name).joined(separator: " ")
            let description = TerminalText.escaped(preset.description ?? "")
            Output.line([preset.name, description, renditions].joined(separator: "\t"))
        }
    }
}
