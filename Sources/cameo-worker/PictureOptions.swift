internal import ArgumentParser
internal import CameoModel
internal import CameoRenderer
internal import CommandSupport

/// What a source may be: its format, its size, its faults.
struct PictureOptions: ParsableArguments {
    /// What a source may lack.
    enum Fault: String, CaseIterable, ExpressibleByArgument {
        /// Its end: the thumbnail shows what there is.
        case truncated
    }

    @Option(
        help: ArgumentHelp(
            "Formats whose decoders libvips does not vouch for: jxl, pdf, with commas between them. Repeatable. (default: none)",
            valueName: "formats"
        )
    )
    var allowFormat: [String] = []

    @Option(
        help: ArgumentHelp(
            "Makes a thumbnail of a source that has this fault, marked so: truncated. Repeatable. (default: none)",
            valueName: "fault"
        )
    )
    var tolerate: [Fault] = []

    @Option(help: ArgumentHelp("Pixels of a source, width times height.", valueName: "pixels"))
    var maxPixels = RenderLimits().pixels

    @Option(help: ArgumentHelp("Pixels of a source's width or height.", valueName: "pixels"))
    var maxEdge = RenderLimits().edge

    @Option(help: ArgumentHelp("Frames of an animation that is to stay one.", valueName: "number"))
    var maxFrames = RenderLimits().frames

    @Option(help: ArgumentHelp("Pixels of all frames of an animation that is to stay one.", valueName: "pixels"))
    var maxAnimatedPixels = RenderLimits().animatedPixels

    func validate() throws {
        _ = try allowedFormats()
        try require(maxPixels, atLeast: 1, "--max-pixels")
        try require(maxEdge, atLeast: 1, "--max-edge")
        try require(maxFrames, atLeast: 1, "--max-frames")
        try require(maxAnimatedPixels, atLeast: 1, "--max-animated-pixels")
    }

    /// Sets what concerns pictures.
    func configure(_ configuration: inout RendererConfiguration) throws {
        configuration.allowedFormats = try allowedFormats()
        configuration.toleratesTruncation = tolerate.contains(.truncated)
        configuration.limits.pixels = maxPixels
        configuration.limits.edge = maxEdge
        configuration.limits.frames = maxFrames
        configuration.limits.animatedPixels = maxAnimatedPixels
    }

    private func allowedFormats() throws -> Set<PictureFormat> {
        var formats: Set<PictureFormat> = []
        for name in allowFormat.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            guard let format = PictureFormat(rawValue: String(name)), PictureFormat.optional.contains(format) else {
                let known = PictureFormat.optional.map(\.rawValue).sorted().joined(separator: " and ")
                throw ValidationError("--allow-format \(name): the formats that have to be allowed are \(known)")
            }
            formats.insert(format)
        }
        return formats
    }
}
