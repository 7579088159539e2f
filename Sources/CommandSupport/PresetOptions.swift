package import ArgumentParser
package import CameoModel
internal import Foundation

/// The presets that a command line names, built in or from a file.
package struct PresetOptions: ParsableArguments {
    @Option(
        help: "Make the renditions of this preset (see cameo-enqueue --list-presets). Repeatable.".taking("name"),
        completion: Presets.completion
    )
    package var preset: [String] = []

    @Option(
        help: """
            A file of presets (proto-json/presets.schema.json), which override built-in ones of the same name. \
            (default: $\(Presets.variable), else only the built-in ones)
            """.taking("file.json"),
        completion: .file()
    )
    package var presets: String?

    package init() {}

    /// Refuses renditions of the same name, each with the option that requested it.
    package static func requireDistinctNames(of renditions: [(Rendition, String)]) throws {
        var origins: [String: String] = [:]
        for (rendition, origin) in renditions {
            guard let earlier = origins.updateValue(origin, forKey: rendition.name) else { continue }
            throw ValidationError(
                "\(origin): its rendition \"\(rendition.name)\" has the same name as one of \(earlier)"
            )
        }
    }

    /// The built-in presets, and those of the file.
    package func load() throws -> PresetFile { try Presets.load(presets) }
}

/// Presets as commands find them: the built-in ones, and those of a file.
package enum Presets {
    /// The variable that names the file if `--presets` does not.
    package static let variable = "CAMEO_PRESETS"

    /// The built-in presets, and those of the file that the option or the variable names.
    package static func load(
        _ option: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> PresetFile {
        let builtIn = try PresetFile.builtIn()
        guard let path = option ?? environment[variable].flatMap({ $0.isEmpty ? nil : $0 }) else { return builtIn }
        let origin = "\(option == nil ? variable : "--presets") \(path)"
        let data = try InputFile.read(path, of: origin)
        return builtIn.replaced(by: try CommandFailure.naming(origin) { try PresetFile(parsing: data) })
    }

    /// Completes the names of presets, including those of the file that the words typed so far name.
    package static var completion: CompletionKind {
        .custom { words, _, _ in (try? load(TypedWords.value(of: "--presets", in: words)).all.map(\.name)) ?? [] }
    }
}

extension PresetFile {
    /// The renditions of presets in order, each with the option that requested it.
    package func renditions(of names: [String]) throws -> [(Rendition, String)] {
        try names.flatMap { name in
            guard let preset = self[name] else {
                let names = all.map(\.name).joined(separator: ", ")
                throw ValidationError("--preset \(name): there is no such preset (there are \(names))")
            }
            return preset.renditions.map { ($0, "--preset \(name)") }
        }
    }
}
