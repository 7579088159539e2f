internal import ArgumentParser
internal import CameoModel
internal import CommandSupport
internal import Foundation

/// Named lists of renditions, built in or from a file.
struct PresetOptions: ParsableArguments {
    /// The variable that names the file if `--presets` does not.
    static let variable = "CAMEO_PRESETS"

    @Option(
        help: ArgumentHelp(
            "Make the renditions of this preset (see --list-presets). Repeatable; --size adds more.",
            valueName: "name"
        ),
        completion: .custom { words, _, _ in presetNames(words) }
    )
    var preset: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            A file of presets (proto-json/presets.schema.json), which override built-in ones of the same name. \
            (default: $\(variable), else only the built-in ones)
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
        guard !preset.isEmpty else { return [] }
        let file = try load()
        return try preset.flatMap { name in
            guard let preset = file[name] else {
                let names = file.all.map(\.name).joined(separator: ", ")
                throw ValidationError("--preset \(name): there is no such preset (there are \(names))")
            }
            return preset.renditions.map { ($0, "--preset \(name)") }
        }
    }

    /// The built-in presets, and those of the file.
    func load(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> PresetFile {
        let builtIn = try PresetFile.builtIn()
        guard let path = presets ?? environment[Self.variable].flatMap({ $0.isEmpty ? nil : $0 }) else {
            return builtIn
        }
        let origin = "\(presets == nil ? Self.variable : "--presets") \(path)"
        let data: Data
        do throws(Errno) {
            data = try InputFile.read(path)
        } catch {
            throw CommandFailure("\(origin): cannot be read: \(error)", .usage)
        }
        do throws(InvalidRequest) {
            return builtIn.replaced(by: try PresetFile(parsing: data))
        } catch {
            throw CommandFailure("\(origin): \(error)", .usage)
        }
    }

    /// Prints one preset per line, or all as JSON.
    func list(asJSON: Bool) throws {
        let file = try load()
        guard !asJSON else { return Output.line(file.json.canonicalText) }
        for preset in file.all {
            let renditions = preset.renditions.map(\.name).joined(separator: " ")
            let description = TerminalText.escaped(preset.description ?? "")
            Output.line([preset.name, description, renditions].joined(separator: "\t"))
        }
    }
}

/// Completes the built-in presets and those of the file that the words typed so far name.
private func presetNames(_ words: [String]) -> [String] {
    var options = PresetOptions()
    options.presets = TypedWords(words).value(of: "--presets")
    return (try? options.load().all.map(\.name)) ?? []
}
