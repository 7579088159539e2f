internal import CVideo
internal import CameoModel
internal import CameoRenderMessages
internal import CameoSystem
internal import Foundation

/// One decoded frame, or the reason why there is none.
struct VideoFrame {
    let container: VideoContainer
    private let wanted: Rendition
    let limits: RenderLimits
    let result: cameo_video_result
    /// The facts, as far as they are known; the PNG is ``takePNG()``'s.
    let made: cameo_video_frame

    /// `wanted` names the moment, and the box that the picture fits.
    init(
        of source: OpenFile,
        holding kind: SourceKind,
        in container: VideoContainer,
        for wanted: Rendition,
        _ limits: RenderLimits
    ) {
        var frame = cameo_video_frame()
        var wish = cameo_video_wish()
        switch wanted.time {
        // Of an animation, the first.
        case .auto where PictureFormat(sniffing: source.bytes(in: 0..<256)) != nil: wish.place = VIDEO_SECONDS
        case .auto: wish.place = VIDEO_AUTO
        case .cover: wish.place = VIDEO_COVER
        case .seconds(let seconds): (wish.place, wish.position) = (VIDEO_SECONDS, seconds)
        case .percent(let percent): (wish.place, wish.position) = (VIDEO_SHARE, percent / 100)
        }
        if let storyboard = wanted.storyboard {
            (wish.tiles, wish.interval) = (Int32(storyboard.tiles), storyboard.interval ?? 0)
        }
        wish.is_exact = wanted.accurate
        wish.fit = { context, width, height in
            guard let context, let width, let height else { return }
            let rendition = context.assumingMemoryBound(to: Rendition.self).pointee
            let source = PixelSize(Int(width.pointee), Int(height.pointee))
            let resized = Geometry(of: rendition, source: source).resized
            (width.pointee, height.pointee) = (Int32(resized.width), Int32(resized.height))
        }
        wish.maximum_pixels = Int64(limits.pixels)
        wish.maximum_edge = Int32(clamping: limits.edge)
        wish.maximum_bytes = limits.outputBytes
        wish.has_holes = kind == .partialVideo
        let names = [container.demuxer, Self.decoders { !$0.isOnlyOfCovers }, Self.decoders { _ in true }]
        let texts = names.map { strdup($0) }
        defer { for text in texts { free(text) } }
        (wish.demuxer, wish.decoders, wish.cover_decoders) = (.init(texts[0]), .init(texts[1]), .init(texts[2]))
        result = withUnsafePointer(to: wanted) { rendition in
            wish.context = UnsafeRawPointer(rendition)
            return cameo_video_frame(source.descriptor, &wish, &frame)
        }
        made = frame
        (self.container, self.wanted, self.limits) = (container, wanted, limits)
    }

    /// The picture, which is this frame's no longer.
    func takePNG() -> Data {
        made.png.map { Data(bytesNoCopy: $0, count: made.byte_count, deallocator: .free) } ?? Data()
    }

    private static func decoders(_ isAllowed: (VideoFacts.Codec) -> Bool) -> String {
        VideoFacts.Codec.allCases.filter(isAllowed).flatMap(\.decoders).joined(separator: ",")
    }

    var codec: VideoFacts.Codec? { VideoFacts.Codec.allCases.first { $0.decoders.contains(Self.text(made.codec)) } }

    private var missing: [Int] {
        withUnsafeBytes(of: made.missing) {
            $0.bindMemory(to: Int64.self).prefix(min(Int(made.missing_count), RefusalMessage.mostMissing)).map(Int.init)
        }
    }

    private var codecName: String { codec?.rawValue ?? Self.text(made.codec) }

    /// What to answer if there is no frame.
    var refusal: RefusalMessage? {
        let detail = Self.text(made.detail)
        let explained = detail.isEmpty ? "" : ": \(detail)"
        switch result {
        case VIDEO_FRAME: return nil
        case VIDEO_NO_PICTURE:
            let missing = wanted.time == .cover ? "cover" : "video: it is audio without a cover, or empty"
            return RefusalMessage(.noPicture, predicate: "has no \(missing) (\(container.name))")
        case VIDEO_UNSUPPORTED_CODEC:
            let codecs = VideoFacts.Codec.allCases.filter { !$0.isOnlyOfCovers }.map(\.rawValue).joined(separator: ", ")
            return RefusalMessage(
                .unsupportedCodec,
                predicate: detail.isEmpty
                    ? "is a video in the codec \(codecName), which is none of \(codecs)"
                    : "is a video in \(detail) (\(codecName)), whose colors are not read"
            )
        case VIDEO_ENCRYPTED:
            return RefusalMessage(.encrypted, predicate: "is an encrypted video (\(container.name), \(codecName))")
        case VIDEO_TOO_LARGE:
            let limit = "more than the limits of \(limits.edge) per edge and \(limits.pixels) in total"
            return RefusalMessage(.tooManyPixels, predicate: "is \(made.width) × \(made.height) pixels, \(limit)")
        case VIDEO_BYTES_MISSING:
            return RefusalMessage(missing: missing)
        case VIDEO_OUT_OF_MEMORY:
            return RefusalMessage(.outOfMemory, predicate: "needs more memory to decode than is available")
        default:
            return RefusalMessage(.corrupt, predicate: "is damaged or truncated (\(container.name)\(explained))")
        }
    }

    /// The text in an array of C, which Swift sees as a tuple.
    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
