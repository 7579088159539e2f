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
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let edges = parts[0].split(separator: "x", omittingEmptySubsequences: false)
        let numbers = edges.map { Int($0) }
        guard edges.count == 2, zip(edges, numbers).allSatisfy({ $0.isEmpty || $1 != nil }),
            !edges.allSatisfy(\.isEmpty)
        else {
            throw Problem(
                .badRequest,
                "\"\(text)\" is not a rendition: it must begin with WIDTHxHEIGHT, WIDTHx or xHEIGHT in pixels",
                code: .requestInvalid
            )
        }
        var rendition = Rendition(width: numbers[0], height: numbers[1])
        for part in parts.dropFirst() {
            if let fit = Rendition.Fit(rawValue: part) {
                rendition.fit = fit
            } else if let format = Rendition.Format(rawValue: part == "jpg" ? "jpeg" : part) {
                rendition.format = format
            } else if part.first == "q", let quality = Int(part.dropFirst()) {
                rendition.quality = quality
            } else {
                throw Problem(
                    .badRequest,
                    "\"\(text)\": \"\(part)\" is not a fit, format or quality (q1 to q100)",
                    code: .requestInvalid
                )
            }
        }
        // The name is derived from the other members, as for a size on the command line.
        rendition = Rendition(
            width: rendition.width,
            height: rendition.height,
            fit: rendition.fit,
            format: rendition.format,
            quality: rendition.quality
        )
        try rendition.validate(at: "")
        return rendition
    }
}
