internal import ArgumentParser
internal import CameoModel
internal import CameoRenderer
internal import CommandSupport

/// The sources that may be rendered: their format, size and faults.
struct PictureOptions: ParsableArguments {
    /// A tolerable fault of a source.
    enum Fault: String, CaseIterable, ExpressibleByArgument {
        /// The end is missing; the thumbnail shows the rest.
        case truncated
    }

    @Option(
        help: ArgumentHelp(
            "Decode these formats too, whose decoders libvips does not trust: jxl, pdf, comma-separated. Repeatable. (default: none)",
            valueName: "formats"
        )
    )
    var allowFormat: [String] = []

    @Option(
        help: ArgumentHelp(
            "Render sources with this fault, and mark their thumbnails: truncated. Repeatable. (default: none)",
            valueName: "fault"
        )
    )
    var tolerate: [Fault] = []

    @Option(help: ArgumentHelp("The most pixels of a source, width times height.", valueName: "pixels"))
    var maxPixels = RenderLimits().pixels

    @Option(help: ArgumentHelp("The largest width or height of a source.", valueName: "pixels"))
    var maxEdge = RenderLimits().edge

    @Option(help: ArgumentHelp("The most frames of an animation for animated thumbnails.", valueName: "number"))
    var maxFrames = RenderLimits().frames

    @Option(help: ArgumentHelp("The most pixels of all frames for animated thumbnails.", valueName: "pixels"))
    var maxAnimatedPixels = RenderLimits().animatedPixels

    func validate() throws {
        _ = try allowedFormats()
        try require(maxPixels, atLeast: 1, "--max-pixels")
        try require(maxEdge, atLeast: 1, "--max-edge")
        try require(maxFrames, atLeast: 1, "--max-frames")
        try require(maxAnimatedPixels, atLeast: 1, "--max-animated-pixels")
    }

    /// Applies the options for pictures.
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
