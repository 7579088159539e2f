internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// The renditions that the command line requests: those of each `--preset`, then one for each `--size`.
struct RenditionOptions: ParsableArguments {
    @OptionGroup(title: "Preset Options") var presets: PresetListing
    @OptionGroup(title: "Geometry Options") var geometry: GeometryOptions
    @OptionGroup(title: "Look Options") var look: LookOptions
    @OptionGroup(title: "Output Options") var output: OutputOptions

    /// All options given that describe renditions.
    func given() throws -> [String] {
        try presets.named.given + geometry.given + look.given + output.given
    }

    /// - Throws: an error that names the option and its mistake.
    func renditions() throws -> [Rendition] {
        let named = try presets.renditions()
        if !named.isEmpty, geometry.size.isEmpty, let option = try given().first(where: { !$0.hasPrefix("--preset") }) {
            let reason = "needs a --size, because a --preset defines its renditions completely"
            throw ValidationError("\(option): \(reason)")
        }
        let texts = named.isEmpty && geometry.size.isEmpty ? [SizeArgument.standard] : geometry.size
        let all = named + zip(try sized(texts.map(SizeArgument.init)), texts).map { ($0, "--size \($1)") }
        try PresetOptions.requireDistinctNames(of: all)
        return all.map(\.0)
    }

    private func sized(_ sizes: [SizeArgument]) throws -> [Rendition] {
        var renditions = sizes.map(\.size).map { size in
            var rendition = Rendition(
                width: size.width,
                height: size.height,
                fit: size.fit ?? geometry.fit ?? .inside,
                format: size.format ?? output.format ?? .auto,
                quality: size.quality
            )
            geometry.apply(to: &rendition)
            look.apply(to: &rendition)
            return rendition
        }
        geometry.applyGravity(to: &renditions)
        output.apply(to: &renditions)
        for (rendition, size) in zip(renditions, sizes) {
            try Result { () throws(InvalidRequest) in try rendition.validate(at: "") }.mapError(size.mistake).get()
        }
        return renditions
    }
}

struct PresetListing: ParsableArguments {
    @OptionGroup var named: PresetOptions

    @Flag(help: "List the presets without enqueueing anything; with --json as a presets file.")
    var listPresets = false

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

/// One `--size`: a box, optionally with its own fit, format or quality after colons.
struct SizeArgument {
    /// The size if the command line gives none.
    static let standard = "256x256"

    let text: String
    let size: RenditionSize

    /// Parses `256x256:cover:webp:q75`.
    init(_ text: String) throws(ValidationError) {
        self.text = text
        size = try Result { () throws(InvalidRequest) in try RenditionSize(parsing: text) }
            .mapError { ValidationError("--size \(text): \($0.reason)") }.get()
    }

    /// A mistake in the rendition of this size, under the name of the option that caused it.
    func mistake(_ error: InvalidRequest) -> ValidationError {
        let path = error.path.split(separator: ".").map(String.init)
        let isOwn =
            switch path.first {
            case "width", "height", nil: true
            case "quality": size.quality != nil
            default: false
            }
        if isOwn { return ValidationError("--size \(text): \((path + [error.reason]).joined(separator: " "))") }
        return TypedOption.mistake(error)
    }
}
