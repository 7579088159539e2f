internal import ArgumentParser
internal import CameoModel

/// The renditions that the command line requests: those of each `--preset`, then one for each `--size`.
struct RenditionOptions: ParsableArguments {
    @OptionGroup(title: "Preset Options") var presets: PresetListing
    @OptionGroup(title: "Geometry Options") var geometry: GeometryOptions
    @OptionGroup(title: "Look Options") var look: LookOptions
    @OptionGroup(title: "Look Options") var overlay: OverlayOptions
    @OptionGroup(title: "Output Options") var output: OutputOptions

    /// The options given that describe the renditions of sizes.
    private var given: [String] { geometry.given + look.given + overlay.given + output.given }

    /// All options given that describe renditions.
    var allGiven: [String] { presets.given + (geometry.size.isEmpty ? [] : ["--size"]) + given }

    /// - Throws: an error that names the option and its mistake.
    func renditions() throws -> [Rendition] {
        let named = try presets.renditions()
        guard named.isEmpty || !geometry.size.isEmpty || given.isEmpty else {
            let reason = "needs a --size, because a --preset defines its renditions completely"
            throw ValidationError("\(given[0]): \(reason)")
        }
        let texts = named.isEmpty && geometry.size.isEmpty ? [SizeArgument.standard] : geometry.size
        let all = named + zip(try sized(texts.map(SizeArgument.init)), texts).map { ($0, "--size \($1)") }
        var origins: [String: String] = [:]
        for (rendition, origin) in all {
            guard let earlier = origins.updateValue(origin, forKey: rendition.name) else { continue }
            throw ValidationError(
                "\(origin): its rendition \"\(rendition.name)\" has the same name as one of \(earlier)"
            )
        }
        return all.map(\.0)
    }

    private func sized(_ sizes: [SizeArgument]) throws -> [Rendition] {
        let watermark = overlay.overlay()
        var renditions = sizes.map { size in
            var rendition = Rendition(
                width: size.width,
                height: size.height,
                fit: size.fit ?? geometry.fit ?? .inside,
                format: size.format ?? output.format ?? .auto,
                quality: size.quality
            )
            geometry.apply(to: &rendition)
            look.apply(to: &rendition)
            rendition.look.overlay = watermark
            return rendition
        }
        geometry.applyGravity(to: &renditions)
        output.apply(to: &renditions)
        for (rendition, size) in zip(renditions, sizes) {
            do throws(InvalidRequest) {
                try rendition.validate(at: "")
            } catch {
                throw size.mistake(error)
            }
        }
        return renditions
    }
}
