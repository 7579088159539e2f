internal import CVideo
internal import CameoChild
internal import CameoModel
package import CameoRenderMessages
package import CameoSystem

/// Serves frames of videos, one after another, until the worker hangs up. It says what a renderer says, and answers a job
/// with one rendition: the frame as an uncompressed PNG, or those of a storyboard one below the other.
package enum FrameService {
    /// Runs the whole program. The hook may answer for a source; tests misbehave through it.
    package static func main(hook: (OpenFile) -> RefusalMessage? = { _ in nil }) {
        let sandbox = ChildStartup("cameo-frames").run {
            cameo_video_start()
            return ChildNeeds()
        }
        let hello = HelloMessage(rendererVersion: Self.version, sandbox: sandbox)
        WorkerChannel.serve("cameo-frames", hello, hook: hook) { job, source, _, channel in
            try answer(job, source, channel)
        }
    }

    /// The first part is raised when the frames change that Cameo makes of a video.
    private static var version: String { "frames-4 libavcodec-\(String(cString: cameo_video_version()))" }

    private static func answer(_ job: JobMessage, _ source: OpenFile, _ channel: WorkerChannel) throws {
        guard let container = VideoContainer(sniffing: source), let wanted = job.renditions.first,
            job.renditions.count == 1, let kind = job.kinds.first, job.kinds.count == 1, kind.isVideo
        else { return try channel.send(RefusalMessage(.failed, predicate: "is not a job for cameo-frames")) }
        let frame = VideoFrame(of: source, holding: kind, in: container, for: wanted, job.limits)
        if let refusal = frame.refusal { return try channel.send(refusal) }
        guard let codec = frame.codec else {
            return try channel.send(RefusalMessage(.failed, predicate: "has a codec without a name"))
        }
        let png = frame.takePNG()
        let rendition = EncodedRendition(
            bytes: png,
            width: Int(frame.made.png_width),
            height: Int(frame.made.png_height),
            format: .png,
            hasAlpha: false,
            frames: Int(frame.made.frames),
            // Never shown: the renderer makes that of the thumbnail.
            placeholder: Placeholder(thumbHash: "AAAA", blurHash: "000000", dominantColor: .transparent)
        )
        let cover = Int(frame.made.cover.rawValue)
        let facts = PictureFacts(
            format: .video,
            width: Int(frame.made.width),
            height: Int(frame.made.height),
            pages: 1,
            hasAlpha: false,
            video: VideoFacts(
                duration: frame.made.duration > 0 ? frame.made.duration : nil,
                time: frame.made.time >= 0 ? frame.made.time : nil,
                codec: codec,
                rotation: Int(frame.made.rotation),
                hasAudio: frame.made.has_audio,
                cover: cover == 0 ? nil : VideoFacts.Cover.allCases[cover - 1]
            )
        )
        try channel.send(RenderedPicture(source: facts, isTruncated: false, renditions: [rendition]))
        try channel.send(png)
    }
}
