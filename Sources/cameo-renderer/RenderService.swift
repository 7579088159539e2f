internal import CameoImaging
internal import CameoModel
internal import CameoRenderMessages
internal import Glibc

/// Serves one job after another until the worker hangs up.
struct RenderService {
    let channel: WorkerChannel

    static var rendererVersion: String { "\(RendererProtocol.imagingVersion) libvips-\(VipsLibrary.version)" }

    mutating func run() {
        do {
            try channel.send(HelloMessage(rendererVersion: Self.rendererVersion))
            while let (job, source) = try channel.receiveJob() {
                try answer(job, source)
            }
        } catch {
            Refusal.end("cameo-renderer: \(error)")
        }
    }

    private func answer(_ job: JobMessage, _ source: OpenFile) throws {
        let made: (facts: PictureFacts, renditions: [EncodedRendition])
        do throws(ImagingError) {
            let mapping = try SourceMapping(source.descriptor)
            #if DEBUG
                TestHook.obey(mapping)
            #endif
            made = try PictureRenderer(maximumPixels: job.maximumPixels).render(job.renditions, of: mapping)
        } catch {
            try channel.send(RefusalMessage(error))
            return
        }
        try channel.send(PictureMessage(made.facts, made.renditions))
        for rendition in made.renditions { try channel.send(rendition.bytes) }
    }
}
