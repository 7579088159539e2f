internal import CLinux
internal import CameoChild
internal import CameoImaging
package import CameoModel
package import CameoRenderMessages

/// Serves one job after another until the worker hangs up.
package struct RenderService {
    let channel: WorkerChannel
    let allowedFormats: Set<PictureFormat>
    /// A test hook that may answer for a source instead of the renderer; tests misbehave through it.
    let hook: (OpenFile) -> RefusalMessage?

    static var rendererVersion: String { "\(RendererProtocol.imagingVersion) libvips-\(VipsLibrary.version)" }

    /// Runs the whole program.
    package static func main(hook: @escaping (OpenFile) -> RefusalMessage? = { _ in nil }) {
        let startup = ChildStartup("cameo-renderer")
        let sandbox = startup.run { Startup.load(startup.arguments) }
        let service = RenderService(
            channel: WorkerChannel(),
            allowedFormats: startup.arguments.allowedFormats,
            hook: hook
        )
        let hasRun = VipsLibrary.run {
            guard cameo_take_crash_stack() == 0 else { Refusal.end("cameo-renderer cannot set a stack for crashes") }
            service.run(sandbox)
        }
        guard hasRun else { Refusal.end("cameo-renderer cannot start a thread") }
    }

    /// - Parameter sandbox: the report that the hello message carries.
    private func run(_ sandbox: SandboxReport) {
        do {
            try channel.send(
                HelloMessage(rendererVersion: Self.rendererVersion, sandbox: sandbox, lacks: FormatTrial.lacks())
            )
            while let (job, source, overlays) = try channel.receiveJob() {
                try answer(job, source, overlays)
            }
        } catch {
            Refusal.end("cameo-renderer: \(error)")
        }
    }

    private func answer(_ job: JobMessage, _ source: OpenFile, _ overlays: [OpenFile]) throws {
        if let answer = hook(source) { return try channel.send(answer) }
        let made: RenderedSet
        do throws(ImagingError) {
            let mapping = try SourceMapping(source.descriptor, holding: job.kinds[0])
            var overlaySources: [OverlaySource] = []
            for (name, (file, kind)) in zip(job.overlays, zip(overlays, job.kinds.dropFirst())) {
                overlaySources.append(OverlaySource(name, try SourceMapping(file.descriptor, holding: kind)))
            }
            var renderer = PictureRenderer(limits: job.limits)
            renderer.allowedFormats = allowedFormats
            renderer.toleratesTruncation = job.toleratesTruncation
            made = try renderer.render(job.renditions, of: mapping, overlays: overlaySources)
        } catch {
            return try channel.send(RefusalMessage(.init(error), predicate: error.predicate))
        }
        // The worker would treat larger answers as an attack.
        if let refusal = Self.refusal(of: made.renditions.map(\.bytes.count), job) { return try channel.send(refusal) }
        try channel.send(
            PictureMessage(source: made.facts, isTruncated: made.isTruncated, renditions: made.renditions)
        )
        for rendition in made.renditions { try channel.send(rendition.bytes) }
    }

    /// The refusal if renditions of these sizes, in bytes, exceed the limits; nil if they do not.
    private static func refusal(of counts: [Int], _ job: JobMessage) -> RefusalMessage? {
        let total = counts.reduce(0, +)
        if let large = counts.first(where: { $0 > job.maximumOutputBytes }) {
            let words = "becomes a rendition of \(large) bytes, over the limit of \(job.maximumOutputBytes)"
            return RefusalMessage(.tooManyBytes, predicate: words)
        }
        guard total > job.maximumTotalOutputBytes else { return nil }
        let words = "becomes renditions of \(total) bytes in total, over the limit of \(job.maximumTotalOutputBytes)"
        return RefusalMessage(.tooManyBytes, predicate: words)
    }
}

/// What a renderer loads before it is locked down.
enum Startup {
    /// The folders that stay readable: fonts and fontconfig's data, because drawings contain text.
    private static let fontFolders = [
        "/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
    ]

    /// Loads libvips and its modules; only the calling thread remains afterwards.
    static func load(_ arguments: RendererArguments) -> ChildNeeds {
        guard VipsLibrary.start(allowing: arguments.allowedFormats) else {
            Refusal.end("cameo-renderer cannot initialise libvips")
        }
        for format in arguments.allowedFormats where !VipsLibrary.decodes(format) {
            Refusal.end("cameo-renderer cannot decode \(format.name): this libvips has no loader for it")
        }
        return ChildNeeds(readableFolders: fontFolders, generatesCode: generatesCode)
    }

    /// Whether libvips compiles its vector loops at run time: up to 8.14 with ORC; from 8.15 on it uses Highway.
    private static var generatesCode: Bool {
        VipsLibrary.version.split(separator: ".").compactMap { Int($0) }.lexicographicallyPrecedes([8, 15])
    }
}

extension RefusalMessage.Reason {
    init(_ error: ImagingError) {
        switch error {
        case .unsupportedFormat, .formatNotAllowed, .noDecoder, .unsupportedPixels, .tooManyBands:
            self = .unsupportedFormat
        case .corrupt: self = .corrupt
        case .tooManyPixels, .edgeTooLong, .tooManyAnimatedPixels, .drawingTooLong, .renditionTooLarge:
            self = .tooManyPixels
        case .tooManyFrames: self = .tooManyFrames
        case .noSuchPage: self = .noSuchPage
        case .cropOutside: self = .cropOutside
        case .tooManyBytes: self = .tooManyBytes
        case .outOfMemory: self = .outOfMemory
        case .encodingFailed, .processingFailed, .noFont, .unreadable: self = .failed
        case .overlay(_, let error): self.init(error)
        }
    }
}
