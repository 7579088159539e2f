internal import CameoImaging
internal import CameoModel
internal import CameoRenderMessages
internal import Glibc

/// Serves one job after another until the worker hangs up.
struct RenderService {
    let channel: WorkerChannel
    let allowedFormats: Set<PictureFormat>

    static var rendererVersion: String { "\(RendererProtocol.imagingVersion) libvips-\(VipsLibrary.version)" }

    /// - Parameter sandbox: what the hello says of it.
    func run(_ sandbox: SandboxReport) {
        do {
            try channel.send(HelloMessage(rendererVersion: Self.rendererVersion, sandbox: sandbox))
            while let (job, source, overlays) = try channel.receiveJob() {
                try answer(job, source, overlays)
            }
        } catch {
            Refusal.end("cameo-renderer: \(error)")
        }
    }

    private func answer(_ job: JobMessage, _ source: OpenFile, _ overlays: [OpenFile]) throws {
        #if DEBUG
            if let answer = TestHook.obey(source) { return try channel.send(answer) }
        #endif
        let made: RenderedSet
        do throws(ImagingError) {
            let mapping = try SourceMapping(source.descriptor)
            var overlaySources: [OverlaySource] = []
            for (name, file) in zip(job.overlays, overlays) {
                overlaySources.append(OverlaySource(name, try SourceMapping(file.descriptor)))
            }
            let renderer = PictureRenderer(
                limits: job.limits,
                allowedFormats: allowedFormats,
                toleratesTruncation: job.toleratesTruncation
            )
            made = try renderer.render(job.renditions, of: mapping, overlays: overlaySources)
        } catch {
            try channel.send(RefusalMessage(error))
            return
        }
        try channel.send(
            PictureMessage(
                source: made.facts,
                isTruncated: made.isTruncated,
                renditions: made.renditions.map(PictureMessage.Announcement.init)
            )
        )
        for rendition in made.renditions { try channel.send(rendition.bytes) }
    }
}
