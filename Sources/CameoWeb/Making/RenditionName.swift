internal import CameoModel
internal import HTTPTypes

/// The syntax of a rendition in a URL: a size as on the command line (`256x256:cover:webp:q75`), or a rendition of a
/// preset (`gallery:grid`; `gallery` alone is its first one).
enum RenditionName {
    static func rendition(_ text: String, _ presets: PresetFile) throws -> Rendition {
        if text.first.map({ $0.isASCII && $0.isNumber }) == true
            || text.hasPrefix("x") && text.dropFirst().first?.isNumber == true
        {
            return try size(text)
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let preset = presets[parts[0]] else { throw unknown(parts[0], presets) }
        guard parts.count == 2 else { return preset.renditions[0] }
        guard let rendition = preset.renditions.first(where: { $0.name == parts[1] }) else {
            let names = preset.renditions.map(\.name).joined(separator: ", ")
            throw Problem(.badRequest, "the preset \(parts[0]) has no rendition \"\(parts[1])\" (it has \(names))")
        }
        return rendition
    }

    static func unknown(_ name: String, _ presets: PresetFile) -> Problem {
        let names = presets.all.map(\.name).joined(separator: ", ")
        return Problem(
            .badRequest,
            "unknown size or preset \"\(name)\" (the presets are \(names))",
            code: .requestInvalid
        )
    }

    /// - Throws: `Problem`, or `InvalidRequest` for numbers out of range.
    static func size(_ text: String) throws -> Rendition {
        let size: RenditionSize
        do throws(InvalidRequest) {
            size = try RenditionSize(parsing: text)
        } catch {
            throw Problem(.badRequest, "\"\(text)\" is not a rendition: \(error.reason)", code: .requestInvalid)
        }
        let rendition = Rendition(
            width: size.width,
            height: size.height,
            fit: size.fit ?? .inside,
            format: size.format ?? .auto,
            quality: size.quality
        )
        try rendition.validate(at: "")
        return rendition
    }
}
