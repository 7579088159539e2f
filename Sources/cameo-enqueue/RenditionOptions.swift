internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// The renditions that the command line asks for: one for each `--size`.
struct RenditionOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            A box in pixels, 256x256, 1024x or x600, with its own fit, format or quality behind colons if it differs: \
            256x256:cover:webp:q75. Repeatable; all sizes come from one decode. (default: 256x256)
            """,
            valueName: "WxH[:…]"
        )
    )
    var size: [String] = []

    @Option(
        help: ArgumentHelp("How the picture fits the box: inside, cover, contain, fill, outside.", valueName: "fit")
    )
    var fit: String = Rendition.Fit.inside.rawValue

    @Option(help: ArgumentHelp("auto, jpeg, png, webp or avif.", valueName: "format"))
    var format: String = Rendition.Format.auto.rawValue

    @Option(help: ArgumentHelp("1 to 100. (default: the format's own)", valueName: "quality"))
    var quality: Int?

    @Option(
        help: ArgumentHelp(
            """
            What stays when cover cuts, and where contain puts the picture: center, north, northeast, …, and for cover \
            also entropy and attention.
            """,
            valueName: "gravity"
        )
    )
    var gravity: String = Rendition.Gravity.center.rawValue

    @Option(
        help: ArgumentHelp("Behind transparent pixels and around contain: #rrggbb or #rrggbbaa.", valueName: "color")
    )
    var background: String?

    @Flag(help: "Enlarges pictures that are smaller than the box.")
    var enlarge = false

    func renditions() throws -> [Rendition] {
        try (size.isEmpty ? ["256x256"] : size).map(rendition)
    }

    private func rendition(_ text: String) throws -> Rendition {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let (width, height) = try box(parts[0], in: text)
        var fit = try word(self.fit, Rendition.Fit.self, "--fit")
        var format = try word(self.format, Rendition.Format.self, "--format")
        var ownQuality: Int?
        for part in parts.dropFirst() {
            if let value = Rendition.Fit(rawValue: part) {
                fit = value
            } else if let value = Rendition.Format(rawValue: part) {
                format = value
            } else if part.first == "q", let value = Int(part.dropFirst()) {
                ownQuality = value
            } else {
                throw CommandFailure("--size \(text): \"\(part)\" is no fit, format or quality (q1 to q100)", .usage)
            }
        }
        // A quality for all sizes passes by those that have none; one of its own would be a mistake, and is refused.
        let quality = ownQuality ?? (format == .png ? nil : quality)
        return Rendition(
            width: width,
            height: height,
            fit: fit,
            withoutEnlargement: !enlarge,
            gravity: try word(gravity, Rendition.Gravity.self, "--gravity"),
            format: format,
            quality: quality,
            background: try color()
        )
    }

    private func box(_ box: String, in text: String) throws -> (Int?, Int?) {
        let edges = box.split(separator: "x", omittingEmptySubsequences: false)
        let numbers = edges.map { Int($0) }
        guard edges.count == 2, zip(edges, numbers).allSatisfy({ $0.isEmpty || $1 != nil }),
            !edges.allSatisfy(\.isEmpty)
        else {
            throw CommandFailure("--size \(text): must be WIDTHxHEIGHT, WIDTHx or xHEIGHT in pixels", .usage)
        }
        return (numbers[0], numbers[1])
    }

    private func word<Word: RawRepresentable & CaseIterable>(
        _ text: String,
        _ type: Word.Type,
        _ option: String
    ) throws -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure("\(option) \(text): must be one of \(words)", .usage)
        }
        return word
    }

    private func color() throws -> Color? {
        guard let background else { return nil }
        guard let color = Color(background) else {
            throw CommandFailure("--background \(background): must be #rgb, #rgba, #rrggbb or #rrggbbaa", .usage)
        }
        return color
    }
}
