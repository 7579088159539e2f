internal import ArgumentParser
internal import CameoModel
internal import CameoRenderer
internal import CommandSupport
internal import Foundation

/// How pictures are rendered, and the limits of a renderer.
struct RenderOptions: ParsableArguments {
    @Option(
        help: """
            Renderer processes, each rendering one picture at a time. (default: the processors that it may use)
            """.taking("number")
    )
    var renderConcurrency: Int?

    @Option(help: "The time limit of one picture; its renderer is then killed.".taking("duration"))
    var renderTimeout = RendererConfiguration().timeout

    @Option(help: "The address space of a renderer, at least 512M.".taking("size"))
    var memoryLimit = ByteCount(RendererConfiguration().memoryLimitBytes)

    @Option(
        help: """
            Replace a renderer after this many pictures, with 1 after each; resident, once it has more resident memory than \
            this. Repeatable. (default: \(RendererConfiguration().recycleAfterPictures),\
            resident=\(ByteCount(RendererConfiguration().recycleAfterResidentBytes)))
            """.taking("number"),
        transform: Change.reading([
            NamedValue("", \.recycleAfterPictures),
            NamedValue("resident", \.recycleAfterResidentBytes) { try byteCount($0) },
        ])
    )
    var recycle: [Change<RendererConfiguration>] = []

    @Option(
        help: "The renderer program. (default: cameo-renderer beside this program)".taking("path"),
        completion: .file()
    )
    var renderer: String?

    @Option(
        help: "The program that makes frames of videos. (default: cameo-frames beside this program)".taking("path"),
        completion: .file()
    )
    var frames: String?

    @Flag(help: "Refuse to start, instead of warning, if the kernel lacks a layer of the renderers' sandbox.")
    var requireSandbox = false

    @Flag(help: "Print the formats and codecs that this host can read and write, what to install for others, and end.")
    var formats = false

    @Flag(help: "Print the formats as JSON.")
    var json = false

    func validate() throws {
        try require(renderConcurrency ?? 1, atLeast: 1, atMost: 1_024, "--render-concurrency")
        try require(renderTimeout, atLeast: .milliseconds(100), "--render-timeout")
        // A renderer uses 0.2 GiB of address space before its first picture.
        try require(memoryLimit, atLeast: ByteCount(512 << 20), "--memory-limit")
        try require(configuration().recycleAfterPictures, atLeast: 1, "--recycle")
        let resident = ByteCount(configuration().recycleAfterResidentBytes)
        try require(resident, atLeast: ByteCount(1 << 20), "--recycle: resident")
    }

    var processes: Int { renderConcurrency ?? RendererConfiguration().processes }

    var framesExecutable: String { frames ?? RendererConfiguration.sibling("cameo-frames") }

    func configuration() -> RendererConfiguration {
        var configuration = RendererConfiguration(processes: processes)
        if let renderer { configuration.executable = renderer }
        configuration.timeout = renderTimeout
        configuration.memoryLimitBytes = memoryLimit.bytes
        configuration.requiresSandbox = requireSandbox
        recycle.apply(to: &configuration)
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
        help: """
            Decode these formats too, whose decoders libvips does not trust: jxl, pdf, comma-separated. Repeatable. (default: none)
            """.taking("formats")
    )
    var allowFormat: [String] = []

    @Option(
        help: """
            Render sources with this fault, and mark their thumbnails: truncated. Repeatable. (default: none)
            """.taking("fault")
    )
    var tolerate: [Fault] = []

    @Option(help: "The most pixels of a source, width times height.".taking("pixels"))
    var maxPixels = RenderLimits().pixels

    @Option(help: "The largest width or height of a source.".taking("pixels"))
    var maxEdge = RenderLimits().edge

    @Option(help: "The most frames of an animation for animated thumbnails.".taking("number"))
    var maxFrames = RenderLimits().frames

    @Option(help: "The most pixels of all frames for animated thumbnails.".taking("pixels"))
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
