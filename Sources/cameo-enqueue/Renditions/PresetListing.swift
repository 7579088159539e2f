internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// The presets to make, or to list.
struct PresetListing: ParsableArguments {
    @OptionGroup var named: PresetOptions

    @Flag(help: "List the presets without enqueueing anything; with --json as a presets file.")
    var listPresets = false

    var given: [String] { named.given }

    func validate() throws {
        guard named.presets == nil || listPresets || !named.preset.isEmpty else {
            throw ValidationError("--presets needs --preset or --list-presets")
        }
    }

    /// The renditions of all `--preset` in order, each with the option that requested it.
    func renditions() throws -> [(Rendition, String)] {
        named.preset.isEmpty ? [] : try named.load().renditions(of: named.preset)
    }

    /// Prints one preset per line, or all as JSON.
    func list(asJSON: Bool) throws {
        let file = try named.load()
        guard !asJSON else { return Output.line(file.json.canonicalText) }
        for preset in file.all {
            let renditions = preset.renditions.map(\.name).joined(separator: " ")
            let description = TerminalText.escaped(preset.description ?? "")
            Output.line([preset.name, description, renditions].joined(separator: "\t"))
        }
    }
}
