internal import CLinux
internal import CameoChild
internal import CameoImaging
internal import CameoModel
package import CameoRenderMessages
package import CameoSystem

/// Serves one job after another until the worker hangs up.
package enum RenderService {
    /// Runs the whole program. The hook may answer for a source instead of the renderer; tests misbehave through it.
    package static func main(hook: (OpenFile) -> RefusalMessage? = { _ in nil }) {
        let startup = ChildStartup("cameo-renderer")
        let formats = startup.arguments.allowedFormats
        let sandbox = startup.run { load(allowing: formats) }
        let hasRun = VipsLibrary.run {
            guard cameo_take_crash_stack() == 0 else { Refusal.end("cameo-renderer cannot set a stack for crashes") }
            let version = "\(RendererProtocol.imagingVersion) libvips-\(VipsLibrary.version)"
            let hello = HelloMessage(rendererVersion: version, sandbox: sandbox, lacks: FormatTrial.lacks())
            WorkerChannel.serve("cameo-renderer", hello, hook: hook) { job, source, overlays, channel in
                try answer(job, source, overlays, formats, channel)
            }
        }
        guard hasRun else { Refusal.end("cameo-renderer cannot start a thread") }
    }

    private static func answer(
        _ job: JobMessage,
        _ source: OpenFile,
        _ overlays: [OpenFile],
        _ allowedFormats: Set<PictureFormat>,
        _ channel: WorkerChannel
    ) throws {
        let made: RenderedPicture
        do throws(ImagingError) {
            let mapping = try SourceMapping(source.descriptor, holding: job.kinds[0])
            var overlaySources: [OverlaySource] = []
            for (name, (file, kind)) in zip(job.overlays, zip(overlays, job.kinds.dropFirst())) {
                overlaySources.append(OverlaySource(name, try SourceMapping(file.descriptor, holding: kind)))
            }
            var renderer = PictureRenderer(limits: job.limits)
            renderer.allowedFormats = allowedFormats
            renderer.toleratesTruncation = job.toleratesTruncation
            renderer.begins = { cameo_note_rendition(Int32(($0 ?? -1) + 1)) }
            made = try renderer.render(job.renditions, of: mapping, overlays: overlaySources)
        } catch {
            return try channel.send(RefusalMessage(error.reason, predicate: error.predicate))
        }
        // The worker would treat larger answers as an attack.
        if let refusal = refusal(of: made.renditions.map(\.byteCount), job) { return try channel.send(refusal) }
        try channel.send(made)
        for rendition in made.renditions { try channel.send(rendition.bytes) }
    }

    /// The refusal if renditions of these sizes, in bytes, exceed the limits; nil if they do not.
    private static func refusal(of counts: [Int], _ job: JobMessage) -> RefusalMessage? {
        let total = counts.reduce(0, +)
        if let large = counts.first(where: { $0 > job.limits.outputBytes }) {
            let words = "becomes a rendition of \(large) bytes, over the limit of \(job.limits.outputBytes)"
            return RefusalMessage(.tooManyBytes, predicate: words)
        }
        guard total > job.limits.totalOutputBytes else { return nil }
        let words = "becomes renditions of \(total) bytes in total, over the limit of \(job.limits.totalOutputBytes)"
        return RefusalMessage(.tooManyBytes, predicate: words)
    }

    /// The folders that stay readable: fonts and fontconfig's data, because drawings contain text.
    private static let fontFolders = [
        "/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
    ]

    /// Loads libvips and its modules, before the lock-down; only the calling thread remains afterwards.
    private static func load(allowing formats: Set<PictureFormat>) -> ChildNeeds {
        guard VipsLibrary.start(allowing: formats) else { Refusal.end("cameo-renderer cannot initialise libvips") }
        for format in formats where !VipsLibrary.decodes(format) {
            Refusal.end("cameo-renderer cannot decode \(format.name): this libvips has no loader for it")
        }
        // Up to 8.14, libvips compiles its vector loops at run time, with ORC; from 8.15 on it uses Highway.
        let numbers = VipsLibrary.version.split(separator: ".").compactMap { Int($0) }
        return ChildNeeds(readableFolders: fontFolders, generatesCode: numbers.lexicographicallyPrecedes([8, 15]))
    }
}
