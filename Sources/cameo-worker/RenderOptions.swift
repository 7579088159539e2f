internal import ArgumentParser
internal import CameoModel
internal import CameoRenderer
internal import CommandSupport
internal import Foundation

/// How pictures are rendered, and the limits of a renderer.
struct RenderOptions: ParsableArguments {
    @Option(
        help: .value(
            "number",
            "Renderer processes, each rendering one picture at a time. (default: the processors that it may use)"
        )
    )
    var renderConcurrency: Int?

    @Option(help: .value("duration", "The time limit of one picture; its renderer is then killed."))
    var renderTimeout = DurationArgument(RendererConfiguration().timeout)

    @Option(help: .value("size", "The address space of a renderer, at least 512M."))
    var memoryLimit = ByteCount(RendererConfiguration().memoryLimitBytes)

    @Option(help: .value("number", "Replace a renderer after this many pictures; 1 uses a new one for each."))
    var recycleAfter = RendererConfiguration().recycleAfterPictures

    @Option(help: .value("size", "Replace a renderer whose resident memory exceeds this."))
    var recycleResident = ByteCount(RendererConfiguration().recycleAfterResidentBytes)

    @Option(
        help: .value("path", "The renderer program. (default: cameo-renderer beside this program)"),
        completion: .file()
    )
    var renderer: String?

    @Option(
        help: .value("path", "The program that makes frames of videos. (default: cameo-frames beside this program)"),
        completion: .file()
    )
    var frames: String?

    @Flag(help: "Refuse to start, instead of warning, if the kernel lacks a layer of the renderers' sandbox.")
    var requireSandbox = false

    @Flag(help: "Print which formats this host can read and write, and what to install for the others, and end.")
    var formats = false

    func validate() throws {
        try require(renderConcurrency ?? 1, atLeast: 1, atMost: 1_024, "--render-concurrency")
        try require(renderTimeout, atLeast: .milliseconds(100), "--render-timeout")
        // A renderer uses 0.2 GiB of address space before its first picture.
        try require(memoryLimit, atLeast: ByteCount(512 << 20), "--memory-limit")
        try require(recycleAfter, atLeast: 1, "--recycle-after")
        try require(recycleResident, atLeast: ByteCount(1 << 20), "--recycle-resident")
    }

    var processes: Int { renderConcurrency ?? RendererConfiguration().processes }

    var framesExecutable: String { frames ?? RendererConfiguration.sibling("cameo-frames") }

    func configuration() -> RendererConfiguration {
        var configuration = RendererConfiguration(processes: processes)
        if let renderer { configuration.executable = renderer }
        configuration.timeout = renderTimeout.duration
        configuration.memoryLimitBytes = memoryLimit.bytes
        configuration.requiresSandbox = requireSandbox
        configuration.recycleAfterPictures = recycleAfter
        configuration.recycleAfterResidentBytes = recycleResident.bytes
        return configuration
    }
}

/// The sources that may be rendered: their format, size and faults.
struct PictureOptions: ParsableArguments {
    /// A tolerable fault of a source.
    enum Fault: String, CaseIterable, ExpressibleByArgument {
        /// The end is missing; the thumbnail shows the rest.
        case truncated
    }

    @Option(
        help: .value(
            "formats",
            "Decode these formats too, whose decoders libvips does not trust: jxl, pdf, comma-separated. Repeatable. (default: none)"
        )
    )
    var allowFormat: [String] = []

    @Option(
        help: .value(
            "fault",
            "Render sources with this fault, and mark their thumbnails: truncated. Repeatable. (default: none)"
        )
    )
    var tolerate: [Fault] = []

    @Option(help: .value("pixels", "The most pixels of a source, width times height."))
    var maxPixels = RenderLimits().pixels

    @Option(help: .value("pixels", "The largest width or height of a source."))
    var maxEdge = RenderLimits().edge

    @Option(help: .value("number", "The most frames of an animation for animated thumbnails."))
    var maxFrames = RenderLimits().frames

    @Option(help: .value("pixels", "The most pixels of all frames for animated thumbnails."))
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
